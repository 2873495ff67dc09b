// SPDX-License-Identifier: MIT
#include "samples/random.h"

#include <bit>
#include <cmath>

namespace limpid::samples {
namespace {

// std::log may differ in the last bit from library to library. The mantissa, brought to [1/sqrt 2, sqrt 2),
// goes through log m = 2 artanh((m - 1) / (m + 1)).
double natural_logarithm(double value) {
  constexpr double kLn2 = 0.693147180559945309417;
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);
  double series = 0;
  for (int n = 17; n >= 1; n -= 2) {
    series = series * z * z + 1.0 / n;
  }
  return exponent * kLn2 + 2 * z * series;
}

}  // namespace

std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

Random::Random(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    word = mix_bits(seed);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::gaussian() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) {
      const double radius = std::sqrt(-2 * natural_logarithm(s) / s);
      spare_ = v * radius;
      has_spare_ = true;
      return u * radius;
    }
  }
}

}  // namespace limpid::samples
