// SPDX-License-Identifier: MIT
#include "tests/oracle/bm3d.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "tests/oracle/clipping.h"
#include "tests/oracle/samples.h"
#include "tests/oracle/transforms.h"

namespace limpid::oracle {
namespace {

// Samples are matched as integers, in whole or quarter code values, so that distances are exact; the limits
// keep them within 31 bits. Guides have single precision, as in the engines, since values between two steps
// of the scale are rounded to one of them.
std::int64_t matching_scale(const Search& search) { return search.whole_code_values ? 1 : 4; }

// The spectrum of a group, or the group of a spectrum: values[patch][row * k + column].
using Block = std::vector<std::vector<double>>;

Block extract(const Picture& picture, const Group& group, int k) {
  Block block;
  for (const Position& position : group) {
    std::vector<double> patch;
    patch.reserve(static_cast<std::size_t>(k) * k);
    for (int y = 0; y < k; ++y) {
      for (int x = 0; x < k; ++x) {
        patch.push_back(picture.at(position.x + x, position.y + y));
      }
    }
    block.push_back(patch);
  }
  return block;
}

// Sums f(p) f(q) covariance(p - q) over all pairs of a filter's samples, h x w.
double response(const std::array<double, 64>& covariance, const std::vector<double>& filter, int width) {
  const int height = static_cast<int>(filter.size()) / width;
  double sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int v = 0; v < height; ++v) {
        for (int u = 0; u < width; ++u) {
          if (std::abs(y - v) < 8 && std::abs(x - u) < 8) {
            sum += filter[y * width + x] * filter[v * width + u] *
                   covariance[8 * std::abs(y - v) + std::abs(x - u)];
          }
        }
      }
    }
  }
  return sum;
}

template <typename Sample>
void copy_samples(const Plane& from, const Plane& to) {
  for (int y = 0; y < from.height; ++y) {
    std::copy_n(from.row<const Sample>(y), from.width, to.row<Sample>(y));
  }
}

}  // namespace

std::vector<std::int64_t> matching_samples(const Picture& guide, const Search& search) {
  const float limit = search.whole_code_values ? 128 : 1023;
  const auto scale = static_cast<float>(matching_scale(search));
  std::vector<std::int64_t> result;
  for (const double value : guide.samples) {
    const float units = (static_cast<float>(value) - 128) * scale + kMatchingBias;
    result.push_back(std::llrint(std::clamp(std::nearbyint(units), -limit, limit)));
  }
  return result;
}

Picture matched_brightness(const Picture& guide, const Search& search) {
  Picture result = guide;
  const std::vector<std::int64_t> samples = matching_samples(guide, search);
  std::transform(samples.begin(), samples.end(), result.samples.begin(), [&](std::int64_t sample) {
    return 128 + static_cast<double>(sample) / static_cast<double>(matching_scale(search));
  });
  return result;
}

// 0, p, 2p, ... and always the last position.
std::vector<int> reference_positions(int size, const Bm3dStep& step) {
  std::vector<int> positions;
  const int last = size - step.patch_size;
  for (int position = 0; position < last; position += step.spacing) {
    positions.push_back(position);
  }
  positions.push_back(last);
  return positions;
}

// The mean of the luma samples that each chroma sample covers, those inside the picture.
Picture shrunk(const Picture& luma, const FrameFormat& format, int width, int height) {
  Picture guide{width, height, std::vector<double>(static_cast<std::size_t>(width) * height)};
  const int cell_width = 1 << format.chroma_shift_x;
  const int cell_height = 1 << format.chroma_shift_y;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      int count = 0;
      for (int v = y * cell_height; v < std::min((y + 1) * cell_height, luma.height); ++v) {
        for (int u = x * cell_width; u < std::min((x + 1) * cell_width, luma.width); ++u) {
          sum += luma.at(u, v);
          ++count;
        }
      }
      guide.at(x, y) = sum / count;
    }
  }
  return guide;
}

// The factor of the noise's variance after subsampling and smoothing of a guide.
double left_of(const NoiseShape& noise, int shift_x, int shift_y, bool smoothed) {
  const auto line = [&](int shift) {
    std::vector<double> taps(std::size_t{3} << shift, 0.0);
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const bool center = i >> shift == 1;
      taps[i] = center ? (smoothed ? 6.0 / 8 : 1.0) : (smoothed ? 1.0 / 8 : 0.0);
      taps[i] /= 1 << shift;
    }
    return taps;
  };
  const std::vector<double> columns = line(shift_x);
  std::vector<double> filter;
  for (const double row : line(shift_y)) {
    for (const double column : columns) {
      filter.push_back(row * column);
    }
  }
  return response(noise_covariance(noise), filter, static_cast<int>(columns.size()));
}

double curve_at(const NoiseShape& noise, double mean) {
  const BrightnessScale& scale = noise.curve.scale;
  const double position = std::clamp((mean - double{scale.origin}) / double{scale.spacing}, 0.0, 16.0);
  const auto below = static_cast<std::size_t>(std::min(position, 15.0));
  return std::lerp(double{noise.curve[below]}, double{noise.curve[below + 1]},
                   position - static_cast<double>(below));
}

// R, G, B to Y, U, V: (R + G + B) / 3, (R - B) / 2, (R - 2G + B) / 4.
std::vector<Picture> to_opponent(const std::vector<Picture>& rgb) {
  std::vector<Picture> result = rgb;
  for (std::size_t i = 0; i < rgb[0].samples.size(); ++i) {
    const double r = rgb[0].samples[i];
    const double g = rgb[1].samples[i];
    const double b = rgb[2].samples[i];
    // Single precision, as in the engines: thirds of integers are often between two steps of the matching
    // scale, and the rounding of Y decides between them.
    result[0].samples[i] = static_cast<double>(static_cast<float>((r + g + b) / 3));
    result[1].samples[i] = (r - b) / 2;
    result[2].samples[i] = (r - 2 * g + b) / 4;
  }
  return result;
}

std::vector<Picture> from_opponent(const std::vector<Picture>& yuv) {
  std::vector<Picture> result = yuv;
  for (std::size_t i = 0; i < yuv[0].samples.size(); ++i) {
    const double y = yuv[0].samples[i];
    const double u = yuv[1].samples[i];
    const double v = yuv[2].samples[i];
    result[0].samples[i] = y + u + 2 * v / 3;
    result[1].samples[i] = y - 4 * v / 3;
    result[2].samples[i] = y - u + 2 * v / 3;
  }
  return result;
}

std::vector<PlaneNoise> opponent_noise(const NoiseModel& noise) {
  const std::array<std::array<double, 3>, 3> factors = {
      {{1. / 3, 1. / 3, 1. / 3}, {0.5, 0, 0.5}, {0.25, 0.5, 0.25}}};
  std::vector<PlaneNoise> opponent(3);
  for (std::size_t c = 0; c < 3; ++c) {
    if (noise.opponent[c].sigma > 0) {
      opponent[c] = noise.opponent[c];
      continue;
    }
    std::array<double, 64> spectrum{};
    double variance = 0;
    double common = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      const double part = std::pow(factors[c][p] * double{noise.sigma[p]}, 2);
      variance += part;
      common += part * double{noise.shape[p].repetition};
      for (std::size_t i = 0; i < 64; ++i) {
        spectrum[i] += part * double{noise.shape[p].spectrum[i]};
      }
    }
    opponent[c].sigma = static_cast<float>(std::sqrt(variance));
    opponent[c].shape.repetition = variance > 0 ? static_cast<float>(common / variance) : 0;
    for (std::size_t i = 0; i < 64 && variance > 0; ++i) {
      opponent[c].shape.spectrum[i] = static_cast<float>(spectrum[i] / variance);
    }
    for (std::size_t i = 0; i < opponent[c].shape.curve.size() && variance > 0; ++i) {
      double total = 0;
      for (std::size_t p = 0; p < 3; ++p) {
        total += std::pow(factors[c][p] * double{noise.sigma[p]} * double{noise.shape[p].curve[i]}, 2);
      }
      opponent[c].shape.curve[i] = static_cast<float>(std::sqrt(total / variance));
    }
  }
  for (std::size_t c = 1; c < 3; ++c) {
    opponent[c].shape.curve.fill(1);  // opponent channels do not carry brightness
  }
  return opponent;
}

Picture field_of(const Picture& picture, int parity) {
  Picture field{picture.width, 0, {}};
  for (int y = parity; y < picture.height; y += 2) {
    for (int x = 0; x < picture.width; ++x) {
      field.samples.push_back(picture.at(x, y));
    }
    ++field.height;
  }
  return field;
}

void insert_field(const Picture& field, int parity, Picture& picture) {
  for (int y = 0; y < field.height; ++y) {
    for (int x = 0; x < field.width; ++x) {
      picture.at(x, 2 * y + parity) = field.at(x, y);
    }
  }
}

void copy_plane(const Frame& from, const Frame& to, int plane) {
  visit_samples(from.format,
                [&]<typename Sample>(Sample) { copy_samples<Sample>(from.planes[plane], to.planes[plane]); });
}

namespace {

// M X M^t for each patch X.
Block transformed_2d(Block block, const Matrix& matrix) {
  const int k = matrix.size;
  std::vector<double> rows;
  for (std::vector<double>& patch : block) {
    rows.assign(k * k, 0.0);
    for (int y = 0; y < k; ++y) {
      for (int u = 0; u < k; ++u) {
        for (int x = 0; x < k; ++x) {
          rows[y * k + u] += patch[y * k + x] * matrix.at(u, x);
        }
      }
    }
    for (int v = 0; v < k; ++v) {
      for (int u = 0; u < k; ++u) {
        double sum = 0;
        for (int y = 0; y < k; ++y) {
          sum += matrix.at(v, y) * rows[y * k + u];
        }
        patch[v * k + u] = sum;
      }
    }
  }
  return block;
}

Block transformed_1d(const Block& block, const Matrix& matrix) {
  Block result = block;
  for (int w = 0; w < matrix.size; ++w) {
    for (std::size_t i = 0; i < block[w].size(); ++i) {
      double sum = 0;
      for (int patch = 0; patch < matrix.size; ++patch) {
        sum += matrix.at(w, patch) * block[patch][i];
      }
      result[w][i] = sum;
    }
  }
  return result;
}

// The common part of both steps: transforms of every group, and aggregation of the results.
class StepFilter {
 public:
  StepFilter(const Picture& noisy, const Bm3dStep& step)
      : step_(step),
        patch_transform_(make_transform(step.transform_2d, step.patch_size)),
        window_(kaiser_line(step.patch_size, step.kaiser_beta)),
        numerator_(noisy),
        denominator_(noisy) {
    for (int size = 1; size <= step.max_group_size; size *= 2) {
      group_transforms_.emplace(size, make_transform(step.transform_1d, size));
    }
    std::fill(numerator_.samples.begin(), numerator_.samples.end(), 0.0);
    std::fill(denominator_.samples.begin(), denominator_.samples.end(), 0.0);
  }

  Block spectrum(const Picture& picture, const Group& group) const {
    return transformed_1d(transformed_2d(extract(picture, group, step_.patch_size), patch_transform_.forward),
                          group_transforms_.at(group.size()).forward);
  }

  void aggregate(const Block& filtered_spectrum, const Group& group, double weight) {
    const int k = step_.patch_size;
    const Block patches =
        transformed_2d(transformed_1d(filtered_spectrum, group_transforms_.at(group.size()).inverse),
                       patch_transform_.inverse);
    for (std::size_t patch = 0; patch < group.size(); ++patch) {
      for (int y = 0; y < k; ++y) {
        for (int x = 0; x < k; ++x) {
          const double sample_weight = weight * window_[y] * window_[x];
          numerator_.at(group[patch].x + x, group[patch].y + y) += sample_weight * patches[patch][y * k + x];
          denominator_.at(group[patch].x + x, group[patch].y + y) += sample_weight;
        }
      }
    }
  }

  Picture estimate() const {
    Picture result = numerator_;
    for (std::size_t i = 0; i < result.samples.size(); ++i) {
      result.samples[i] /= denominator_.samples[i];
    }
    return result;
  }

 private:
  Bm3dStep step_;
  Transform patch_transform_;
  std::map<std::size_t, Transform> group_transforms_;  // by the group's size
  std::vector<double> window_;
  Picture numerator_;
  Picture denominator_;
};

// The standard deviation of a group's noise at its mean brightness, relative to the plane's.
double deviation_of(const Picture& picture, const Group& group, int k, const NoiseShape& noise) {
  double sum = 0;
  for (const std::vector<double>& patch : extract(picture, group, k)) {
    sum = std::accumulate(patch.begin(), patch.end(), sum);
  }
  return curve_at(noise, sum / static_cast<double>(group.size() * k * k));
}

bool fits(const Picture& picture, const Bm3dParameters& parameters) {
  const int k =
      std::max(parameters.hard_threshold.patch_size, parameters.wiener ? parameters.wiener->patch_size : 0);
  return picture.width >= k && picture.height >= k;
}

// The planes of one progressive picture (or field), the first one guiding the matching.
std::vector<Picture> denoise_planes(const std::vector<Picture>& noisy, const FrameFormat& format,
                                    const Bm3dParameters& parameters, const std::vector<PlaneNoise>& noise) {
  if (!fits(noisy[0], parameters)) {
    return noisy;
  }
  const auto is_subsampled = [&](std::size_t plane) {
    return plane > 0 && (format.chroma_shift_x > 0 || format.chroma_shift_y > 0);
  };
  const auto is_filtered = [&](std::size_t plane) {
    return noise[plane].sigma > 0 && fits(noisy[plane], parameters);
  };
  // Groups, with the guide on which they are found.
  const auto groups_of = [&](std::size_t plane, const Picture& luma, const Bm3dStep& step, bool second) {
    Picture guide =
        is_subsampled(plane) ? shrunk(luma, format, noisy[plane].width, noisy[plane].height) : luma;
    const bool bytes = format.sample_type == SampleType::kUint8 && format.color_model != ColorModel::kRgb;
    Search search{.whole_code_values = bytes && !is_subsampled(plane) && !second};
    if (parameters.matching == Matching::kStatistical && noise[0].sigma > 0) {
      const int shift_x = is_subsampled(plane) ? format.chroma_shift_x : 0;
      const int shift_y = is_subsampled(plane) ? format.chroma_shift_y : 0;
      // A mean of n samples has 1/n of white noise's variance, and the kernel leaves (38/64)^2 of it. For
      // colored noise, the factors differ.
      const double variance = std::pow(double{noise[0].sigma}, 2) / (1 << (shift_x + shift_y)) *
                              left_of(noise[0].shape, shift_x, shift_y, !second) /
                              left_of({}, shift_x, shift_y, !second);
      search.noise =
          second ? 2 * std::min(variance, 625.0) / 100 : 0.9 * 2 * variance * (38.0 / 64) * (38.0 / 64);
      guide = second ? guide : smoothed(guide);
    }
    return std::pair(find_groups(guide, step, search), matched_brightness(guide, search));
  };

  std::vector<Picture> basic = noisy;
  for (std::size_t plane = 0; plane < noisy.size(); ++plane) {
    if (is_filtered(plane)) {
      const auto [groups, guide] = groups_of(plane, noisy[0], parameters.hard_threshold, false);
      const auto lambda = static_cast<double>(parameters.lambda);
      basic[plane] = hard_threshold(noisy[plane], groups, parameters.hard_threshold, lambda, noise[plane],
                                    plane > 0 ? &guide : nullptr);
    }
  }
  if (!parameters.wiener) {
    return basic;
  }
  std::vector<Picture> result = noisy;
  for (std::size_t plane = 0; plane < noisy.size(); ++plane) {
    if (is_filtered(plane)) {
      const auto [groups, guide] = groups_of(plane, basic[0], *parameters.wiener, true);
      result[plane] = wiener(noisy[plane], basic[plane], groups, *parameters.wiener, noise[plane],
                             plane > 0 ? &guide : nullptr);
    }
  }
  return result;
}

std::vector<Picture> denoise_rgb(const std::vector<Picture>& noisy, const FrameFormat& format,
                                 const Bm3dParameters& parameters, const NoiseModel& noise) {
  return from_opponent(denoise_planes(to_opponent(noisy), format, parameters, opponent_noise(noise)));
}

}  // namespace

Picture smoothed(const Picture& guide) {
  const auto mirrored = [](int i, int size) { return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i; };
  Picture result = guide;
  for (int y = 0; y < guide.height; ++y) {
    for (int x = 0; x < guide.width; ++x) {
      const auto sample = [&](int dx, int dy) {
        return static_cast<float>(guide.at(mirrored(x + dx, guide.width), mirrored(y + dy, guide.height)));
      };
      const auto column = [&](int dx) { return sample(dx, -1) + sample(dx, 1) + 6 * sample(dx, 0); };
      result.at(x, y) = static_cast<double>((column(-1) + column(1) + 6 * column(0)) / 64);
    }
  }
  return result;
}

std::vector<Group> find_groups(const Picture& guide, const Bm3dStep& step, const Search& search) {
  const int k = step.patch_size;
  const int radius = (step.search_window - 1) / 2;
  const std::vector<std::int64_t> samples = matching_samples(guide, search);
  // Candidates differ from the reference patch by at most tau, and are ordered by the deviation of their
  // distance from the expected one, which is at most half of tau.
  const auto unit = static_cast<double>(k * k * matching_scale(search) * matching_scale(search));
  const double limit = std::floor(static_cast<double>(step.max_distance) * unit);
  const auto expected = static_cast<std::int64_t>(std::min(search.noise * unit, limit / 2));
  std::vector<Group> groups;
  for (const int reference_y : reference_positions(guide.height, step)) {
    for (const int reference_x : reference_positions(guide.width, step)) {
      std::vector<std::tuple<std::int64_t, int, int>> matches;
      for (int y = std::max(0, reference_y - radius); y <= std::min(guide.height - k, reference_y + radius);
           ++y) {
        for (int x = std::max(0, reference_x - radius); x <= std::min(guide.width - k, reference_x + radius);
             ++x) {
          std::int64_t distance = 0;
          for (int v = 0; v < k; ++v) {
            for (int u = 0; u < k; ++u) {
              const std::int64_t difference = samples[(y + v) * guide.width + x + u] -
                                              samples[(reference_y + v) * guide.width + reference_x + u];
              distance += difference * difference;
            }
          }
          const bool is_reference = x == reference_x && y == reference_y;
          if (is_reference || static_cast<double>(distance) <= limit) {
            matches.emplace_back(is_reference ? -1 : std::abs(distance - expected), y, x);
          }
        }
      }
      std::sort(matches.begin(), matches.end());
      const std::size_t most = std::min<std::size_t>(matches.size(), step.max_group_size);
      Group group;
      for (std::size_t i = 0; i < std::bit_floor(most); ++i) {
        group.push_back({std::get<2>(matches[i]), std::get<1>(matches[i])});
      }
      groups.push_back(group);
    }
  }
  return groups;
}

std::vector<double> coefficient_variances(const PlaneNoise& noise, const Bm3dStep& step) {
  const int k = step.patch_size;
  const Matrix forward = make_transform(step.transform_2d, k).forward;
  const std::array<double, 64> covariance = noise_covariance(noise.shape);
  std::vector<double> variances;
  for (int v = 0; v < k; ++v) {
    for (int u = 0; u < k; ++u) {
      std::vector<double> basis;
      for (int y = 0; y < k; ++y) {
        for (int x = 0; x < k; ++x) {
          basis.push_back(forward.at(v, y) * forward.at(u, x));
        }
      }
      const double relative = noise.shape.is_white() ? 1 : std::max(1e-3, response(covariance, basis, k));
      variances.push_back(relative * std::pow(double{noise.sigma}, 2));
    }
  }
  return variances;
}

Picture hard_threshold(const Picture& noisy, const std::vector<Group>& groups, const Bm3dStep& step,
                       double lambda, const PlaneNoise& noise, const Picture* brightness) {
  const std::vector<double> variances = coefficient_variances(noise, step);
  const double variance = std::pow(double{noise.sigma}, 2);
  StepFilter filter(noisy, step);
  for (const Group& group : groups) {
    Block spectrum = filter.spectrum(noisy, group);
    const double deviation = brightness != nullptr
                                 ? deviation_of(*brightness, {group[0]}, step.patch_size, noise.shape)
                                 : deviation_of(noisy, group, step.patch_size, noise.shape);
    double kept = 0;
    for (std::size_t patch = 0; patch < spectrum.size(); ++patch) {
      for (std::size_t i = 0; i < spectrum[patch].size(); ++i) {
        const bool is_dc = patch == 0 && i == 0;
        // A coefficient of lambda sigma, which integers' transforms equal exactly, is kept.
        const double bound = lambda * std::sqrt(variances[i]) * deviation * (1 - 0x1p-14);
        if (is_dc || std::abs(spectrum[patch][i]) > bound) {
          kept += variances[i] / variance;
        } else {
          spectrum[patch][i] = 0;
        }
      }
    }
    filter.aggregate(spectrum, group, 1 / (std::max(1.0, kept) * deviation * deviation));
  }
  return filter.estimate();
}

Picture wiener(const Picture& noisy, const Picture& basic, const std::vector<Group>& groups,
               const Bm3dStep& step, const PlaneNoise& noise, const Picture* brightness) {
  const std::vector<double> variances = coefficient_variances(noise, step);
  const double variance = std::pow(double{noise.sigma}, 2);
  StepFilter filter(noisy, step);
  for (const Group& group : groups) {
    Block spectrum = filter.spectrum(noisy, group);
    const Block basic_spectrum = filter.spectrum(basic, group);
    const double deviation = brightness != nullptr
                                 ? deviation_of(*brightness, {group[0]}, step.patch_size, noise.shape)
                                 : deviation_of(basic, group, step.patch_size, noise.shape);
    double energy = 0;
    for (std::size_t patch = 0; patch < spectrum.size(); ++patch) {
      for (std::size_t i = 0; i < spectrum[patch].size(); ++i) {
        const double power = basic_spectrum[patch][i] * basic_spectrum[patch][i];
        const double gain = power / (power + variances[i] * deviation * deviation);
        spectrum[patch][i] *= gain;
        energy += gain * gain * variances[i] / variance;
      }
    }
    filter.aggregate(spectrum, group, 1 / (std::max(1.0, energy) * deviation * deviation));
  }
  return filter.estimate();
}

Picture to_picture(const Frame& frame, int plane) {
  const Plane& view = frame.planes[plane];
  Picture picture{view.width, view.height, {}};
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      picture.samples.push_back(sample_at(frame, plane, x, y) / frame.format.code_value());
    }
  }
  return picture;
}

void store(const Picture& picture, const Frame& frame, int plane) {
  const Plane& view = frame.planes[plane];
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      set_sample(frame, plane, x, y, picture.at(x, y) * frame.format.code_value());
    }
  }
}

Frame denoise(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise) {
  const FrameFormat& format = frame.format;
  std::vector<Picture> noisy;
  for (int plane = 0; plane < format.color_plane_count(); ++plane) {
    noisy.push_back(to_picture(frame, plane));
  }
  const auto denoised = [&](const std::vector<Picture>& planes) {
    return format.color_model == ColorModel::kRgb
               ? denoise_rgb(planes, format, parameters, noise)
               : denoise_planes(planes, format, parameters, {noise.plane(0), noise.plane(1), noise.plane(2)});
  };

  std::vector<Picture> result = noisy;
  if (frame.interlaced) {
    for (const int parity : {0, 1}) {
      std::vector<Picture> fields;
      fields.reserve(noisy.size());
      for (const Picture& picture : noisy) {
        fields.push_back(field_of(picture, parity));
      }
      fields = denoised(fields);
      for (std::size_t plane = 0; plane < result.size(); ++plane) {
        insert_field(fields[plane], parity, result[plane]);
      }
    }
  } else {
    result = denoised(noisy);
  }

  Frame output = allocate_frame(format);
  output.interlaced = frame.interlaced;
  output.index = frame.index;
  output.attachment = frame.attachment;
  for (int plane = 0; plane < format.plane_count(); ++plane) {
    if (plane < format.color_plane_count() && noise.sigma[plane] > 0) {
      store(result[plane], output, plane);
    } else {
      copy_plane(frame, output, plane);
    }
  }
  undo_clipping(frame, noise, output);
  return output;
}

}  // namespace limpid::oracle
