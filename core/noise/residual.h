#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::noise {

/// How much more a filter has removed from textured blocks than from flat ones: the mean energy of the
/// residual
/// (`noisy` minus `denoised`) in the half of all 8x8 blocks with the most texture, relative to that in the
/// flattest fifth, both divided by what `model` expects at the blocks' brightness. 0.5 to 1.3 where the
/// residual is noise; more, up to thousands, where it is texture. Of luma, gray or green. 1 where the picture
/// has too few blocks, or `model` has no noise. Both frames are in host memory and of one format.
double residual_ratio(const Frame& noisy, const Frame& denoised, const NoiseModel& model);

}  // namespace limpid::noise
