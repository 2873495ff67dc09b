#pragma once

#include <memory>

#include "core/engine/denoiser.h"

namespace limpid::cpu {

/// The engine "cpu" as the registry lists it.
EngineInfo describe_cpu();

/// Throws Error on a processor that lacks the least instruction set that the engine is built for.
std::shared_ptr<Engine> open_cpu(const EngineOptions& options);

}  // namespace limpid::cpu
