#pragma once

#include <optional>
#include <string>

#include "core/engine/noise_control.h"

// Noise in the words of settings. `setting` is the name of the setting that a word was given for, with which
// sentences begin. All throw UsageError for words that say nothing.

namespace limpid {

/// "auto", which is nothing; a level, "10"; or one for each plane, "10,5,5".
std::optional<NoiseProfile> parse_sigma(const std::string& setting, const std::string& text);

/// The same, or the name of a file that ends in .json and has a profile.
std::optional<NoiseProfile> parse_noise(const std::string& setting, const std::string& text);

/// "all", "luma" or "chroma".
PlaneChoice parse_planes(const std::string& setting, const std::string& text);
std::string to_string(PlaneChoice planes);

/// A number from 0 to 10, "light", "medium" or "strong".
float parse_strength(const std::string& setting, const std::string& text);

}  // namespace limpid
