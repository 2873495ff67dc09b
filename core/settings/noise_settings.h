// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "core/engine/noise_control.h"

// Parsers of noise settings. `setting` is the name of the setting, with which messages begin. All throw
// UsageError for invalid words.

namespace limpid {

/// Parses "auto" (returns nothing), a level ("10") or one level per plane ("10,5,5").
std::optional<NoiseProfile> parse_sigma(const std::string& setting, const std::string& text);

/// Parses the values of parse_sigma(), or the name of a profile file that ends in .json.
std::optional<NoiseProfile> parse_noise(const std::string& setting, const std::string& text);

/// Parses "all", "luma" or "chroma".
PlaneChoice parse_planes(const std::string& setting, const std::string& text);
std::string to_string(PlaneChoice planes);

/// Parses a number from 0 to 10, "light", "medium" or "strong".
float parse_strength(const std::string& setting, const std::string& text);

}  // namespace limpid
