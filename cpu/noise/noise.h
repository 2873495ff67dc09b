// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"

namespace limpid::cpu {

/// Estimates the level of additive white Gaussian noise in each color plane from a single frame.
///
/// The method belongs to the family described by Ponomarenko et al. (2007) and Colom and Buades (IPOL 2013).
/// In a grid of 8x8 blocks, those with the least texture are selected by the lower frequencies of their DCTs,
/// and noise is measured on their higher frequencies, which in white noise are independent of the selection.
/// The number of blocks follows from the data: of all shares of the blocks, from the flattest 1/400 to all,
/// the one whose measured variance has the lowest upper confidence bound is used. Clipping of noise at the
/// ends of the code range is modeled by the variance of a censored Gaussian (Foi, "Clipped noisy images",
/// Signal Processing 2009).
///
/// Planes smaller than 16x16 and planes that are mostly constant give 0. For interlaced frames, the first
/// field is used. The result is a function of the samples alone. core/noise/noise_blocks.h contains the parts
/// that all engines share (Engine::estimate_noise()).
NoiseModel estimate_noise(const Frame& frame);

/// Corrects `out`, the estimate of `noisy`, for the clipping of noise at the ends of the sample range, on the
/// threads of the caller's arena.
void undo_clipping(const Frame& noisy, const NoiseModel& noise, Frame& out);

/// Noise statistics of `frame` (core/noise/noise_statistics.h) and of its differences from the frame before,
/// unless that is null. Both have one format and are in host memory. For interlaced frames, the first fields
/// are used. Runs on the threads of the caller's arena; the result does not depend on their number.
noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                     const noise::SceneRange& range = {});

}  // namespace limpid::cpu
