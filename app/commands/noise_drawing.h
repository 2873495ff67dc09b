// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::app {

/// A noise model as an SVG picture. For each plane, a curve shows the standard deviation by brightness, and
/// shaded squares show the standard deviations of the coefficients of the 8x8 DCT. `title` must be plain text
/// without <, > and &.
std::string draw_noise(const NoiseModel& noise, ColorModel color_model, const std::string& title);

}  // namespace limpid::app
