// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "tests/oracle/samples.h"

// Pictures with known noise.

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
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const double value =
            (scene(p, x, y) + double{noise.sigma[p]} * gaussian(generator)) * format.code_value();
        oracle::set_sample(frame, p, x, y, value);
      }
    }
  }
  return frame;
}

inline Frame render(const FrameFormat& format, const Scene& scene, float sigma, unsigned seed = 1) {
  return render(format, scene, NoiseModel{{sigma, sigma, sigma}}, seed);
}

// A picture of photon counts, `unit` code values for each photon, whose means are those of `scene`.
inline Frame counts_frame(const FrameFormat& format, const Scene& scene, double unit, unsigned seed = 1) {
  std::mt19937 generator(seed);
  return render(
      format,
      [&](int plane, int x, int y) {
        return unit * std::poisson_distribution<int>(scene(plane, x, y))(generator);
      },
      0);
}

inline Scene flat(double level) {
  return [=](int, int, int) { return level; };
}

inline double constant(int /*plane*/, int /*x*/, int /*y*/) { return 128; }

// Fine gratings in the upper half, discs and a checkerboard in the rest, between slopes: at most a third of
// the picture has no texture.
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

// White noise of standard deviation `sigma` in every sample, or noise of that standard deviation smoothed by
// [1 2 1] / 4 in both directions.
inline std::vector<double> make_noise(int width, int height, double sigma, bool smooth, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> gaussian(0, sigma);
  std::vector<double> white(static_cast<std::size_t>(width) * height);
  for (double& value : white) {
    value = gaussian(generator);
  }
  if (!smooth) {
    return white;
  }
  const auto at = [&](int x, int y) { return white[(y + height) % height * width + (x + width) % width]; };
  std::vector<double> smoothed = white;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          sum += (2 - std::abs(dx)) * (2 - std::abs(dy)) * at(x + dx, y + dy);
        }
      }
      smoothed[y * width + x] = sum / 6;  // the squares of the weights add up to 36
    }
  }
  return smoothed;
}

struct Noise {
  double sigma = 0;
  bool smooth = false;
};

inline Frame noisy(const FrameFormat& format, const Scene& scene, const Noise& noise, unsigned seed) {
  std::array<std::vector<double>, 3> added;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    added[p] =
        make_noise(format.plane_width(p), format.plane_height(p), noise.sigma, noise.smooth, 3 * seed + p);
  }
  return render(
      format, [&](int p, int x, int y) { return scene(p, x, y) + added[p][y * format.plane_width(p) + x]; },
      0);
}

// Flat in every second stripe of 64 rows, textured in the others.
inline double striped(int plane, int x, int y) {
  return (y & 64) == 0 ? 100 + 0.05 * x : textured(plane, x % 500, y % 240);
}

}  // namespace limpid::test
