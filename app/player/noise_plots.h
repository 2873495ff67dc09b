// SPDX-License-Identifier: MIT
#pragma once

#include "core/noise/noise_model.h"

namespace limpid::app {

/// Draws the noise of a plane with ImGui, side by side: its standard deviation by brightness, and its
/// spectrum from low frequencies in the upper left corner to high ones. `height`: in pixels.
void draw_noise_plots(const PlaneNoise& noise, float width, float height);

}  // namespace limpid::app
