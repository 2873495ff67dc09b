// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace limpid {

/// Gaussian_Sequence of the AV1 specification, section 7.18.3.2: random numbers of 12 bits with a standard
/// deviation of 512. Every decoder has the same ones.
extern const std::array<std::int16_t, 2048> kGaussianSequence;

}  // namespace limpid
