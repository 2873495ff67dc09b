#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// Pictures with noise of a known level.

namespace limpid::test {

inline FrameFormat gray_format(int width, int height, int bit_depth = 8) {
  FrameFormat format = {.width = width, .height = height};
  format.bit_depth = bit_depth;
  format.sample_type = bit_depth == 8    ? SampleType::kUint8
                       : bit_depth == 32 ? SampleType::kFloat32
                                         : SampleType::kUint16;
  return format;
}

using Scene = std::function<double(int plane, int x, int y)>;

// A picture of `scene`, in code values, with Gaussian noise added, rounded and clipped as a file's samples
// are; float samples are not clipped.
inline Frame render(const FrameFormat& format, const Scene& scene, const NoiseModel& noise,
                    unsigned seed = 1) {
  Frame frame = allocate_frame(format);
  std::mt19937 generator(seed);
  std::normal_distribution<double> gaussian;
  const double greatest = std::exp2(format.bit_depth) - 1;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const double value =
            (scene(p, x, y) + double{noise.sigma[p]} * gaussian(generator)) * format.code_value();
        const double rounded = std::clamp(std::round(value), 0.0, greatest);
        switch (format.sample_type) {
          case SampleType::kUint8:
            plane.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(rounded);
            break;
          case SampleType::kUint16:
            plane.row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(rounded);
            break;
          case SampleType::kFloat32:
            plane.row<float>(y)[x] = static_cast<float>(value);
            break;
        }
      }
    }
  }
  return frame;
}

inline Frame render(const FrameFormat& format, const Scene& scene, float sigma, unsigned seed = 1) {
  return render(format, scene, NoiseModel{{sigma, sigma, sigma}}, seed);
}

inline double constant(int /*plane*/, int /*x*/, int /*y*/) { return 128; }

// Fine gratings in the upper half, discs and a checkerboard in the rest, between slopes: no more than a third
// of the picture is free of texture.
inline double textured(int /*plane*/, int x, int y) {
  const double slope = 90 + 0.2 * x + 0.1 * y;
  if (y < 90) {
    return slope + 30 * std::sin(x * (1.1 + y / 200.0)) * std::cos(y * 0.9);
  }
  if (x % 80 < 40) {
    return (x / 3 + y / 3) % 2 == 0 ? slope : slope - 50;
  }
  return std::hypot(x % 80 - 60, y % 50 - 25) < 12 ? 200 : slope;
}

// Relative error of an estimate.
inline double error_of(float estimate, double sigma) { return double{estimate} / sigma - 1; }

}  // namespace limpid::test
