// SPDX-License-Identifier: MIT
#pragma once

#include "core/engine/noise_control.h"

namespace limpid::app {

/// Logs estimates that are new or have changed markedly. Warns if `settings` result in no denoising.
NoiseControl::Listener noise_log(const NoiseSettings& settings);

}  // namespace limpid::app
