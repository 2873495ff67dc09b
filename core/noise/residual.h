// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::noise {

/// Ratio of the energies that a filter has removed from textured and from flat blocks. The mean energy of the
/// residual (`noisy` minus `denoised`) in the half of all 8x8 blocks with the most texture is divided by that
/// in the flattest fifth, both relative to the expectation of `model` at the brightness of the blocks. The
/// ratio is 0.5 to 1.3 if the residual is noise, and up to thousands if it is texture. Measured on luma, gray
/// or green. 1 if the picture has too few blocks or `model` has no noise. Both frames are in host memory and
/// have one format.
double residual_ratio(const Frame& noisy, const Frame& denoised, const NoiseModel& model);

}  // namespace limpid::noise
