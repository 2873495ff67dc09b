#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// Estimates the level of additive white Gaussian noise in each color plane from one frame's own content.
///
/// The method belongs to the family that Ponomarenko et al. (2007) and Colom and Buades (IPOL 2013) describe:
/// of a grid of 8x8 blocks those with the least texture are found from the lower frequencies of their DCTs,
/// and the noise is measured on the higher frequencies of the same blocks, which in white noise are
/// independent of what the blocks were chosen by. How many blocks to trust is decided by the data: of all
/// shares of the blocks, from the flattest 1/400 to all, the one whose measured variance has the lowest upper
/// confidence bound counts. Samples that the noise has driven into the ends of the code range are accounted
/// for by the variance of a censored Gaussian (Foi, "Clipped noisy images", Signal Processing 2009).
///
/// Planes smaller than 16x16 and planes that are mostly constant give 0. For interlaced frames the first
/// field is used. The result is a function of the samples alone. core/noise/noise_blocks.h has what all
/// engines share of this (Engine::estimate_noise()).
NoiseModel estimate_noise(const Frame& frame);

}  // namespace limpid::cpu
