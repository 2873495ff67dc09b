// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/engine/noise_control.h"

// Parsers of noise settings. `setting` is the name of the setting, with which messages begin. All throw
// UsageError for invalid words.

namespace limpid {

/// Parses "auto" (returns nothing), a level ("10") or one level per plane ("10,5,5").
std::optional<NoiseProfile> parse_sigma(const std::string& setting, const std::string& text);

/// True for white noise of given levels, which parse_sigma() can parse.
bool is_plain_level(const NoiseProfile& profile);
/// The levels as parse_sigma() parses them. Requires is_plain_level().
std::string levels_text(const NoiseProfile& profile);

/// Parses the values of parse_sigma(), or the name of a profile file that ends in .json.
std::optional<NoiseProfile> parse_noise(const std::string& setting, const std::string& text);

/// The planes that are filtered.
enum class PlaneChoice : std::uint8_t { kAll, kLuma, kChroma };

/// Parses "all", "luma" or "chroma".
PlaneChoice parse_planes(const std::string& setting, const std::string& text);

/// Parses a number from 0 to 10, "light", "medium" or "strong", or two of them, for luma and chroma,
/// separated by a comma.
Strength parse_strength(const std::string& setting, const std::string& text);
/// The settings with a strength of 0 for the planes that are not chosen.
NoiseSettings restricted(NoiseSettings settings, PlaneChoice planes);
/// The text that parse_strength() parses, such as "1.2" or "1,0.5".
std::string to_string(const Strength& strength);

/// Parses a number from 0 to 1.
float parse_mix(const std::string& setting, const std::string& text);

}  // namespace limpid
