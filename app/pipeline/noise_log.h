#pragma once

#include "core/engine/noise_control.h"

namespace limpid::app {

/// Logs estimates when they are new or have changed markedly, and warns if `settings` let nothing be removed.
NoiseControl::Listener noise_log(const NoiseSettings& settings);

}  // namespace limpid::app
