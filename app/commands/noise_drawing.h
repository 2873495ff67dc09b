#pragma once

#include <string>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::app {

/// A noise model as an SVG picture: of each plane the deviation by brightness, a curve, and the deviations of
/// the coefficients of the 8x8 DCT, shaded squares. `title` must be plain text without <, > and &.
std::string draw_noise(const NoiseModel& noise, ColorModel color_model, const std::string& title);

}  // namespace limpid::app
