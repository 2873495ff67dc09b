// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace limpid::samples {

/// Mixes the bits of a 64-bit number (the finalizer of splitmix64, Steele et al., "Fast splittable
/// pseudorandom number generators", 2014).
std::uint64_t mix_bits(std::uint64_t value);

/// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), with Gaussian
/// deviates. Uses only arithmetic that IEEE 754 defines exactly, so that a seed gives the same numbers on
/// every machine and with every C++ library.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  /// In [0, 1).
  double uniform();
  /// A normal deviate (mean 0, standard deviation 1), by the polar form of the Box-Muller method.
  double gaussian();

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace limpid::samples
