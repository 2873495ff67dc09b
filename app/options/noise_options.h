#pragma once

#include <optional>
#include <string>

#include "core/noise/noise_level.h"

namespace limpid::app {

/// Parses the value of --sigma: one number for all planes, three separated by commas, or "auto" (nothing).
/// Throws UsageError.
std::optional<NoiseLevel> parse_sigma(const std::string& text);

/// The factor that a named strength scales sigma by: light 0.7, medium 1, strong 1.4. Throws UsageError.
float parse_strength(const std::string& name);

}  // namespace limpid::app
