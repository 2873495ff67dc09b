#pragma once

#include <cstddef>
#include <cstdint>

#include "core/vbm4d/quarter_samples.h"
#include "core/vbm4d/trajectories.h"

// Patches of guides (TrajectoryGuide) in kernels, four bytes at a time.

namespace limpid::cuda {

using limpid::vbm4d::kPatch;

inline constexpr int kWords = 2;  // in a row of a patch

struct Place {
  int x;
  int y;
};

struct PatchWords {
  int of_row[kPatch][kWords];
};

// Of a guide, somewhere in four bytes.
struct GuideRow {
  const unsigned* words;
  unsigned shift;  // in bits

  __device__ __forceinline__ explicit GuideRow(const std::int8_t* at)
      : words(reinterpret_cast<const unsigned*>(at - (reinterpret_cast<std::uintptr_t>(at) & 3U))),
        shift((reinterpret_cast<std::uintptr_t>(at) & 3U) * 8) {}

  // Four bytes from sample 4 i on.
  __device__ __forceinline__ unsigned four(int i) const {
    return __funnelshift_r(__ldg(words + i), __ldg(words + i + 1), shift);
  }
};

__device__ __forceinline__ const std::int8_t* sample_of(const std::int8_t* guide, int pitch,
                                                        const Place& place) {
  return guide + static_cast<std::ptrdiff_t>(place.y) * pitch + place.x;
}

__device__ __forceinline__ void load_patch(const std::int8_t* at, int pitch, PatchWords& patch) {
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      patch.of_row[r][i] = static_cast<int>(row.four(i));
    }
  }
}

__device__ __forceinline__ int squares(const PatchWords& patch) {
  int sum = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    sum = __dp4a(patch.of_row[r][1], patch.of_row[r][1], __dp4a(patch.of_row[r][0], patch.of_row[r][0], sum));
  }
  return sum;
}

// Of the patch at `at` from one with such squares().
__device__ __forceinline__ int distance_of(const PatchWords& patch, int its_squares, const std::int8_t* at,
                                           int pitch) {
  int products = 0;
  int others = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int four = static_cast<int>(row.four(i));
      products = __dp4a(patch.of_row[r][i], four, products);
      others = __dp4a(four, four, others);
    }
  }
  return its_squares + others - 2 * products;
}

// Sample x of row r.
__device__ __forceinline__ int sample_of(const PatchWords& patch, int r, int x) {
  return static_cast<std::int8_t>(static_cast<unsigned>(patch.of_row[r][x / 4]) >> (8 * (x % 4)) & 0xFF);
}

// A reference patch's gradient (core/vbm4d/quarter_samples.h), and its products with the patch.
struct PatchGradient {
  PatchWords x{};
  PatchWords y{};
  limpid::vbm4d::GradientProducts products;
  int own_x = 0;
  int own_y = 0;

  PatchGradient() = default;
  __device__ __forceinline__ explicit PatchGradient(const PatchWords& patch) {
    const auto along = [](int i, const auto& sample) {
      return i == 0            ? limpid::vbm4d::gradient_at_border(sample(0), sample(1))
             : i == kPatch - 1 ? limpid::vbm4d::gradient_at_border(sample(i - 1), sample(i))
                               : limpid::vbm4d::gradient(sample(i - 1), sample(i + 1));
    };
#pragma unroll
    for (int r = 0; r < kPatch; ++r) {
#pragma unroll
      for (int column = 0; column < kPatch; ++column) {
        const int of_x = along(column, [&](int i) { return sample_of(patch, r, i); });
        const int of_y = along(r, [&](int i) { return sample_of(patch, i, column); });
        x.of_row[r][column / 4] |= (of_x & 0xFF) << (8 * (column % 4));
        y.of_row[r][column / 4] |= (of_y & 0xFF) << (8 * (column % 4));
      }
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        products.xx = __dp4a(x.of_row[r][i], x.of_row[r][i], products.xx);
        products.xy = __dp4a(x.of_row[r][i], y.of_row[r][i], products.xy);
        products.yy = __dp4a(y.of_row[r][i], y.of_row[r][i], products.yy);
        own_x = __dp4a(x.of_row[r][i], patch.of_row[r][i], own_x);
        own_y = __dp4a(y.of_row[r][i], patch.of_row[r][i], own_y);
      }
    }
  }

  // How far beside the patch at `at` the reference patch is found.
  __device__ __forceinline__ limpid::vbm4d::QuarterVector beside(const std::int8_t* at, int pitch) const {
    int its_x = 0;
    int its_y = 0;
#pragma unroll
    for (int r = 0; r < kPatch; ++r) {
      const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const int four = static_cast<int>(row.four(i));
        its_x = __dp4a(x.of_row[r][i], four, its_x);
        its_y = __dp4a(y.of_row[r][i], four, its_y);
      }
    }
    return limpid::vbm4d::beside(products, own_x - its_x, own_y - its_y);
  }
};

// Of the patch so many quarters right of and below `at`.
__device__ __forceinline__ int distance_between_samples(const PatchWords& patch, const std::int8_t* at,
                                                        int pitch, int right, int below) {
  using namespace limpid::vbm4d;
  const std::uint64_t packed = interpolation_weights(right);
  const int near = static_cast<int>(packed & 0xFFFFFFFF);
  const int far = static_cast<int>(packed >> 32);
  int weights[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps; ++i) {
    weights[i] = interpolation_weight(below, i);
  }
  int rows[kTaps][kPatch];  // the last ones, interpolated
  int sum = 0;
  const std::int8_t* from = at - kTapsBefore * static_cast<std::ptrdiff_t>(pitch) - kTapsBefore;
#pragma unroll
  for (int r = 0; r < kPatch + kTaps - 1; ++r, from += pitch) {
    const GuideRow row(from);
    unsigned four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      four[i] = row.four(i);
    }
    const auto from_column = [&](int x) {
      return static_cast<int>(__funnelshift_r(four[x / 4], four[min(x / 4 + 1, 3)], 8 * (x % 4)));
    };
#pragma unroll
    for (int x = 0; x < kPatch; ++x) {
      rows[r % kTaps][x] = rounded(__dp4a(from_column(x), near, __dp4a(from_column(x + 4), far, 0)));
    }
    const int own = r - kTaps + 1;
    if (own >= 0) {
#pragma unroll
      for (int x = 0; x < kPatch; ++x) {
        int value = 0;
#pragma unroll
        for (int i = 0; i < kTaps; ++i) {
          value += weights[i] * rows[(own + i) % kTaps][x];
        }
        const int difference = sample_of(patch, own, x) - rounded(value);
        sum += difference * difference;
      }
    }
  }
  return sum;
}

// Whether a patch repeats the other one, noise and all. One of a single value has no noise.
__device__ __forceinline__ bool repeats(const std::int8_t* at, const std::int8_t* other, int pitch) {
  unsigned unlike = 0;  // its first sample
  const unsigned all = (static_cast<unsigned>(*at) & 0xFFU) * 0x01010101U;
#pragma unroll 1
  for (int r = 0; r < kPatch; ++r, at += pitch, other += pitch) {
    const GuideRow row(at);
    const GuideRow its(other);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned four = row.four(i);
      if (four != its.four(i)) {
        return false;
      }
      unlike |= four ^ all;
    }
  }
  return unlike != 0;
}

}  // namespace limpid::cuda
