// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "core/frame/frame.h"

namespace limpid::test {

// A ramp over the whole range with clipped noise, and the result of a perfect estimate of the noisy mean: the
// mean of sufficiently many pictures.
struct ClippedRamp {
  Frame clean, noisy, estimate;

  ClippedRamp(const FrameFormat& format, double sigma) {
    clean = allocate_frame(format);
    noisy = allocate_frame(format);
    estimate = allocate_frame(format);
    std::mt19937_64 random(7);
    std::normal_distribution<double> noise(0, sigma * format.code_value());
    const int greatest = (1 << format.bit_depth) - 1;
    for (int p = 0; p < format.plane_count(); ++p) {
      for (int y = 0; y < clean.planes[p].height; ++y) {
        const int last = std::max(clean.planes[p].width - 1, 1);
        for (int x = 0; x < clean.planes[p].width; ++x) {
          const double truth = std::floor(static_cast<double>(greatest) * x / last + 0.5);
          const auto draw = [&] {
            return std::clamp(std::floor(truth + noise(random) + 0.5), 0.0, static_cast<double>(greatest));
          };
          double sum = 0;
          constexpr int kPictures = 400;
          for (int i = 0; i < kPictures; ++i) {
            sum += draw();
          }
          store(clean, p, x, y, truth);
          store(noisy, p, x, y, draw());
          store(estimate, p, x, y, std::floor(sum / kPictures + 0.5));
        }
      }
    }
  }

  static void store(const Frame& frame, int p, int x, int y, double value) {
    if (frame.format.sample_type == SampleType::kUint8) {
      frame.planes[p].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value);
    } else {
      frame.planes[p].row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(value);
    }
  }
};

inline Frame copy_of(const Frame& frame) {
  Frame copy = allocate_frame(frame.format);
  copy_samples(frame, copy);
  return copy;
}

}  // namespace limpid::test
