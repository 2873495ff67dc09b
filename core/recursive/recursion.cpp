// SPDX-License-Identifier: MIT
#include "core/recursive/recursion.h"

#include <cmath>
#include <numbers>

namespace limpid::recursive {

std::array<std::array<float, kTaps>, kEighths> interpolation_weights() {
  const auto sinc = [](double x) {
    return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
  };
  std::array<std::array<float, kTaps>, kEighths> weights{};
  for (int eighths = 0; eighths < kEighths; ++eighths) {
    std::array<double, kTaps> line{};
    double sum = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const double distance = tap - kTapsBefore - eighths / static_cast<double>(kEighths);
      const double lobes = kTaps / 2.0;
      line[tap] = std::abs(distance) < lobes ? sinc(distance) * sinc(distance / lobes) : 0;
      sum += line[tap];
    }
    for (int tap = 0; tap < kTaps; ++tap) {
      weights[eighths][tap] = static_cast<float>(line[tap] / sum);
    }
  }
  return weights;
}

}  // namespace limpid::recursive
