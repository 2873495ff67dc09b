// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/engine/denoiser.h"

namespace limpid::cpu {

/// The registry's description of the engine "cpu".
EngineInfo describe_cpu();

/// Throws Error if the processor lacks the minimum instruction set of the build.
std::shared_ptr<Engine> open_cpu(const EngineOptions& options);

}  // namespace limpid::cpu
