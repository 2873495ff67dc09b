// SPDX-License-Identifier: MIT
#include "cpu/runtime/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/runtime/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/parallel.h"

// Plain loops: compiled once per SIMD target, they are vectorized by the compiler.
HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

template <typename Sample>
HWY_ATTR void load_samples(const Sample* HWY_RESTRICT in, float scale, int count, float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<float>(in[i]) * scale;
  }
}

template <typename Sample>
HWY_ATTR void load_floats(const Sample* HWY_RESTRICT in, int count, float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = usable_code_value(static_cast<float>(in[i]) * 255.0F);
  }
}

template <typename Sample>
HWY_ATTR void store_samples(const float* HWY_RESTRICT in, float scale, float peak, int count,
                            Sample* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    // Truncation of a non-negative number rounds down, so that adding 0.5 rounds halves up.
    out[i] = static_cast<Sample>(static_cast<int>(std::min(std::max(in[i] * scale + 0.5F, 0.0F), peak)));
  }
}

template <typename Sample>
HWY_ATTR void store_floats(const float* HWY_RESTRICT in, float scale, int count, Sample* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = static_cast<Sample>(in[i] * scale);
  }
}

HWY_ATTR void load(const FrameFormat& format, const std::byte* samples, int count, float* out) {
  visit_samples(format, [&]<typename Sample>(Sample) HWY_ATTR {
    const auto* const in = reinterpret_cast<const Sample*>(samples);
    if constexpr (std::is_integral_v<Sample>) {
      load_samples(in, static_cast<float>(1 / format.code_value()), count, out);
    } else {
      load_floats(in, count, out);
    }
  });
}

HWY_ATTR void store(const FrameFormat& format, const float* in, int count, std::byte* samples) {
  const auto scale = static_cast<float>(format.code_value());
  visit_samples(format, [&]<typename Sample>(Sample) HWY_ATTR {
    auto* const out = reinterpret_cast<Sample*>(samples);
    if constexpr (std::is_integral_v<Sample>) {
      store_samples(in, scale, static_cast<float>((1 << format.bit_depth) - 1), count, out);
    } else {
      store_floats(in, scale, count, out);
    }
  });
}

HWY_ATTR void pass_unusable(const float* HWY_RESTRICT in, int count, float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = is_usable_sample(in[i]) ? out[i] : in[i];
  }
}

HWY_ATTR void smooth(const float* HWY_RESTRICT above, const float* HWY_RESTRICT row,
                     const float* HWY_RESTRICT below, int count, float* HWY_RESTRICT out) {
  constexpr float kSide = kGuideKernelSide;
  constexpr float kCenter = kGuideKernelCenter;
  constexpr float kScale = 1.0F / (kGuideKernelSum * kGuideKernelSum);
  const auto column = [&](int x) HWY_ATTR { return kSide * (above[x] + below[x]) + kCenter * row[x]; };
  const auto smoothed = [&](int left, int x, int right) HWY_ATTR {
    return (kSide * (column(left) + column(right)) + kCenter * column(x)) * kScale;
  };
  out[0] = smoothed(1, 0, 1);
  for (int x = 1; x < count - 1; ++x) {
    out[x] = smoothed(x - 1, x, x + 1);
  }
  out[count - 1] = smoothed(count - 2, count - 1, count - 2);
}

// The triangle wave of MatchingScale, exact for integers up to 2^24.
template <typename D, typename V>
HWY_INLINE V fold(D d, const MatchingScale& scale, V value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V top = hn::Set(d, static_cast<float>(2 * scale.limit));
  const V period = hn::Set(d, scale.period());
  const V whole = hn::Round(value);
  const V rest = hn::Sub(whole, hn::Mul(period, hn::Round(hn::Div(whole, period))));
  return hn::Max(hn::Min(rest, hn::Sub(top, rest)), hn::Sub(hn::Neg(top), rest));
}

HWY_ATTR void matching(const MatchingScale& scale, const float* HWY_RESTRICT in, int count,
                       std::int16_t* HWY_RESTRICT out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::int16_t, decltype(d)> d16;
  const auto factor = static_cast<float>(scale.scale);
  const auto limit = static_cast<float>(scale.limit);
  const int lanes = static_cast<int>(hn::Lanes(d));
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::Add(hn::Mul(hn::Sub(hn::LoadU(d, in + i), hn::Set(d, 128.0F)), hn::Set(d, factor)),
                               hn::Set(d, kMatchingBias));
    const auto limited =
        scale.folds ? fold(d, scale, value) : hn::Clamp(value, hn::Set(d, -limit), hn::Set(d, limit));
    hn::StoreU(hn::DemoteTo(d16, hn::NearestInt(limited)), d16, out + i);
  }
  for (; i < count; ++i) {
    const float value = (in[i] - 128.0F) * factor + kMatchingBias;
    const float whole = std::nearbyintf(value);
    const float limited = scale.folds
                              ? scale.folded(whole - scale.period() * std::nearbyintf(whole / scale.period()))
                              : std::clamp(whole, -limit, limit);
    out[i] = static_cast<std::int16_t>(limited);
  }
}

HWY_ATTR void to_opponent(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT c, int count) {
  for (int i = 0; i < count; ++i) {
    const float red = a[i];
    const float green = b[i];
    const float blue = c[i];
    a[i] = (red + green + blue) / 3.0F;
    b[i] = (red - blue) * 0.5F;
    c[i] = (red - 2.0F * green + blue) * 0.25F;
  }
}

HWY_ATTR void from_opponent(float* HWY_RESTRICT a, float* HWY_RESTRICT b, float* HWY_RESTRICT c, int count) {
  for (int i = 0; i < count; ++i) {
    const float y = a[i];
    const float u = b[i];
    const float v = c[i] * (2.0F / 3.0F);
    a[i] = y + u + v;
    b[i] = y - 2.0F * v;
    c[i] = y - u + v;
  }
}

HWY_ATTR void subsample(const float* const* rows, int row_count, int shift_x, int in_count, int out_count,
                        float* out) {
  const int merged = 1 << shift_x;
  for (int i = 0; i < out_count; ++i) {
    const int first = i * merged;
    const int last = std::min(first + merged, in_count);
    float sum = 0;
    for (int r = 0; r < row_count; ++r) {
      for (int x = first; x < last; ++x) {
        sum += rows[r][x];
      }
    }
    out[i] = sum / static_cast<float>(row_count * (last - first));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(load);
HWY_EXPORT(store);
HWY_EXPORT(pass_unusable);
HWY_EXPORT(smooth);
HWY_EXPORT(matching);
HWY_EXPORT(to_opponent);
HWY_EXPORT(from_opponent);
HWY_EXPORT(subsample);

void load_row(const FrameFormat& format, const std::byte* samples, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(load)(format, samples, count, out);
}
void store_row(const FrameFormat& format, const float* in, int count, std::byte* samples) {
  HWY_DYNAMIC_DISPATCH(store)(format, in, count, samples);
}
void pass_unusable_samples(const Frame& in, Frame& out) {
  if (in.format.sample_type != SampleType::kFloat32) {
    return;
  }
  constexpr int kRowsInATask = 32;
  for (int p = 0; p < in.format.color_plane_count(); ++p) {
    const Plane& from = in.planes[p];
    const Plane& to = out.planes[p];
    for_each_index(from.height, kRowsInATask, [&](int y) {
      HWY_DYNAMIC_DISPATCH(pass_unusable)(from.row<const float>(y), from.width, to.row<float>(y));
    });
  }
}
void smooth_row(const float* above, const float* row, const float* below, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(smooth)(above, row, below, count, out);
}
void matching_row(const MatchingScale& scale, const float* in, int count, std::int16_t* out) {
  HWY_DYNAMIC_DISPATCH(matching)(scale, in, count, out);
}
void rgb_to_opponent_row(float* r_to_y, float* g_to_u, float* b_to_v, int count) {
  HWY_DYNAMIC_DISPATCH(to_opponent)(r_to_y, g_to_u, b_to_v, count);
}
void opponent_to_rgb_row(float* y_to_r, float* u_to_g, float* v_to_b, int count) {
  HWY_DYNAMIC_DISPATCH(from_opponent)(y_to_r, u_to_g, v_to_b, count);
}
void subsample_row(const float* const* rows, int row_count, int shift_x, int in_count, int out_count,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(subsample)(rows, row_count, shift_x, in_count, out_count, out);
}

}  // namespace limpid::cpu
#endif
