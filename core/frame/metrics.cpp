// SPDX-License-Identifier: MIT
#include "core/frame/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace limpid {
namespace {

constexpr double kPeak = 255;
constexpr int kWindow = 11;
constexpr double kWindowDeviation = 1.5;

void require_same_size(const Plane& reference, const Plane& test) {
  if (reference.width != test.width || reference.height != test.height) {
    throw Error("planes of " + std::to_string(reference.width) + "x" + std::to_string(reference.height) +
                " and " + std::to_string(test.width) + "x" + std::to_string(test.height) +
                " samples cannot be compared");
  }
}

// The one-dimensional Gaussian of the SSIM window, truncated to `size` samples. Its taps add up to 1.
std::vector<double> window_taps(int size) {
  const int count = std::min(size, kWindow);
  std::vector<double> taps(count);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double x = (i - (count - 1) / 2.0) / kWindowDeviation;
    sum += taps[i] = std::exp(-x * x / 2);
  }
  for (double& tap : taps) {
    tap /= sum;
  }
  return taps;
}

// out[i] = sum over k of taps[k] * in[i + k]
void convolve_row(const std::vector<double>& taps, const std::vector<double>& in, std::vector<double>& out) {
  const int count = static_cast<int>(in.size() - taps.size() + 1);
  out.assign(count, 0);
  for (std::size_t k = 0; k < taps.size(); ++k) {
    const double tap = taps[k];
    const double* const source = in.data() + k;
    for (int i = 0; i < count; ++i) {
      out[i] += tap * source[i];
    }
  }
}

// The number of sums over a window that SSIM is computed from. The two variances only occur as a sum.
constexpr int kMoments = 4;
enum : std::uint8_t { kMeanReference, kMeanTest, kSquares, kProduct };
using MomentRow = std::array<std::vector<double>, kMoments>;

double ssim_of(double mean_x, double mean_y, double squares, double product) {
  constexpr double kC1 = (0.01 * kPeak) * (0.01 * kPeak);
  constexpr double kC2 = (0.03 * kPeak) * (0.03 * kPeak);
  const double means_squared = mean_x * mean_x + mean_y * mean_y;
  const double means_product = mean_x * mean_y;
  return (2 * means_product + kC1) * (2 * (product - means_product) + kC2) /
         ((means_squared + kC1) * (squares - means_squared + kC2));
}

}  // namespace

double peak_of(const FrameFormat& format) {
  return format.is_float() ? kPeak : (std::exp2(format.bit_depth) - 1) / format.code_value();
}

double psnr_from_mse(double mse, double peak) { return 10 * std::log10(peak * peak / mse); }

double mean_squared_error(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
                          const FrameFormat& test_format) {
  require_same_size(reference, test);
  std::vector<double> x(reference.width);
  std::vector<double> y(reference.width);
  double total = 0;
  for (int row = 0; row < reference.height; ++row) {
    load_code_values(reference, reference_format, 0, row, reference.width, x.data());
    load_code_values(test, test_format, 0, row, test.width, y.data());
    double sum = 0;
    for (int i = 0; i < reference.width; ++i) {
      sum += (x[i] - y[i]) * (x[i] - y[i]);
    }
    total += sum;
  }
  return total / (static_cast<double>(reference.width) * reference.height);
}

double ssim(const Plane& reference, const FrameFormat& reference_format, const Plane& test,
            const FrameFormat& test_format) {
  require_same_size(reference, test);
  const int width = reference.width;
  const std::vector<double> taps_x = window_taps(width);
  const std::vector<double> taps_y = window_taps(reference.height);
  const int window_height = static_cast<int>(taps_y.size());

  // Each row is filtered horizontally once; the last `window_height` of them are kept for the vertical sums.
  std::vector<MomentRow> rows(window_height);
  MomentRow raw;
  raw.fill(std::vector<double>(width));
  MomentRow sums;
  double total = 0;
  for (int y = 0; y < reference.height; ++y) {
    load_code_values(reference, reference_format, 0, y, width, raw[kMeanReference].data());
    load_code_values(test, test_format, 0, y, width, raw[kMeanTest].data());
    for (int x = 0; x < width; ++x) {
      const double a = raw[kMeanReference][x];
      const double b = raw[kMeanTest][x];
      raw[kSquares][x] = a * a + b * b;
      raw[kProduct][x] = a * b;
    }
    for (int m = 0; m < kMoments; ++m) {
      convolve_row(taps_x, raw[m], rows[y % window_height][m]);
    }
    if (y < window_height - 1) {
      continue;
    }
    const std::size_t positions = rows[0][0].size();
    for (int m = 0; m < kMoments; ++m) {
      sums[m].assign(positions, 0);
      for (int k = 0; k < window_height; ++k) {
        const double tap = taps_y[k];
        const std::vector<double>& source = rows[(y - window_height + 1 + k) % window_height][m];
        for (std::size_t i = 0; i < positions; ++i) {
          sums[m][i] += tap * source[i];
        }
      }
    }
    double row_total = 0;
    for (std::size_t i = 0; i < positions; ++i) {
      row_total += ssim_of(sums[kMeanReference][i], sums[kMeanTest][i], sums[kSquares][i], sums[kProduct][i]);
    }
    total += row_total / static_cast<double>(positions);
  }
  return total / (reference.height - window_height + 1);
}

namespace {

void require_comparable(const Frame& reference, const Frame& test) {
  const FrameFormat& a = reference.format;
  const FrameFormat& b = test.format;
  if (a.width != b.width || a.height != b.height || a.color_model != b.color_model ||
      a.chroma_shift_x != b.chroma_shift_x || a.chroma_shift_y != b.chroma_shift_y) {
    throw Error("frame " + std::to_string(test.index) + ": " + to_string(b) +
                " cannot be measured against a reference of " + to_string(a));
  }
}

}  // namespace

std::vector<PlaneQuality> measure(const Frame& reference, const Frame& test) {
  require_comparable(reference, test);
  const FrameFormat& a = reference.format;
  const FrameFormat& b = test.format;
  std::vector<PlaneQuality> quality(a.color_plane_count());
  for (int p = 0; p < a.color_plane_count(); ++p) {
    quality[p].mse = mean_squared_error(reference.planes[p], a, test.planes[p], b);
    quality[p].peak = peak_of(a);
    quality[p].psnr = psnr_from_mse(quality[p].mse, quality[p].peak);
    quality[p].ssim = ssim(reference.planes[p], a, test.planes[p], b);
  }
  return quality;
}

Flicker& Flicker::operator+=(const Flicker& other) {
  changes += other.changes;
  errors += other.errors;
  samples += other.samples;
  return *this;
}

double Flicker::deviation() const {
  return samples > 0 ? std::sqrt(changes / static_cast<double>(samples)) : 0;
}

double Flicker::share() const { return errors > 0 ? std::sqrt(2 * changes / errors) : 0; }

std::vector<Flicker> measure_flicker(const Frame& reference_before, const Frame& test_before,
                                     const Frame& reference, const Frame& test) {
  require_comparable(reference_before, test_before);
  require_comparable(reference_before, reference);
  require_comparable(reference, test);
  std::vector<Flicker> flicker(reference.format.color_plane_count());
  std::array<std::vector<double>, 4> rows;
  for (int p = 0; p < reference.format.color_plane_count(); ++p) {
    const Plane& plane = reference.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      const std::array<const Frame*, 4> frames = {&reference_before, &test_before, &reference, &test};
      for (std::size_t i = 0; i < frames.size(); ++i) {
        rows[i].resize(plane.width);
        load_code_values(frames[i]->planes[p], frames[i]->format, 0, y, plane.width, rows[i].data());
      }
      for (int x = 0; x < plane.width; ++x) {
        if (std::abs(rows[2][x] - rows[0][x]) > 1) {
          continue;
        }
        const double before = rows[1][x] - rows[0][x];
        const double now = rows[3][x] - rows[2][x];
        flicker[p].changes += (now - before) * (now - before);
        flicker[p].errors += before * before + now * now;
        ++flicker[p].samples;
      }
    }
  }
  return flicker;
}

}  // namespace limpid
