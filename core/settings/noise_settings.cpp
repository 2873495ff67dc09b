// SPDX-License-Identifier: MIT
#include "core/settings/noise_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/shortest_text.h"
#include "core/noise/noise_model.h"
#include "core/settings/noise_profile.h"

namespace limpid {
namespace {

std::optional<float> parse_number(std::string_view text, float most) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= most)) {
    return std::nullopt;
  }
  return value;
}

// Parses a number from 0 to 10 or its name.
std::optional<float> parse_factor(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, float>, 3> kStrengths{
      {{"light", 0.7F}, {"medium", 1.0F}, {"strong", 1.4F}}};
  for (const auto& [strength, factor] : kStrengths) {
    if (text == strength) {
      return factor;
    }
  }
  constexpr float kMostStrength = 10;
  return parse_number(text, kMostStrength);
}

// Parses one number for all planes, or three.
std::optional<NoiseModel> parse_levels(const std::string& text) {
  std::vector<float> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<float> value = parse_number(rest.substr(0, comma), kMaxSigma);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  if (values.size() == 1) {
    return NoiseModel{{values[0], values[0], values[0]}};
  }
  return values.size() == 3 ? std::optional(NoiseModel{{values[0], values[1], values[2]}}) : std::nullopt;
}

}  // namespace

std::optional<NoiseProfile> parse_sigma(const std::string& setting, const std::string& text) {
  if (text == "auto") {
    return std::nullopt;
  }
  if (const std::optional<NoiseModel> levels = parse_levels(text)) {
    return NoiseProfile{*levels, std::nullopt};
  }
  throw UsageError(
      setting + ": '" + text +
      "' is not a noise level: a number from 0 to 255, three of them separated by commas, or auto");
}

bool is_plain_level(const NoiseProfile& profile) {
  return profile == NoiseProfile{NoiseModel{profile.noise.sigma}, std::nullopt};
}

std::string levels_text(const NoiseProfile& profile) {
  const std::array<float, 3>& sigma = profile.noise.sigma;
  const bool equal = sigma[0] == sigma[1] && sigma[0] == sigma[2];
  return equal ? shortest_text(sigma[0])
               : shortest_text(sigma[0]) + "," + shortest_text(sigma[1]) + "," + shortest_text(sigma[2]);
}

std::optional<NoiseProfile> parse_noise(const std::string& setting, const std::string& text) {
  if (text == "auto") {
    return std::nullopt;
  }
  if (const std::optional<NoiseModel> levels = parse_levels(text)) {
    return NoiseProfile{*levels, std::nullopt};
  }
  if (std::filesystem::path(text).extension() == ".json") {
    return read_noise_profile(text);
  }
  throw UsageError(
      setting + ": '" + text +
      "' is neither auto, nor a noise level (a number from 0 to 255, or three of them separated by "
      "commas), nor a profile (a file that ends in .json)");
}

PlaneChoice parse_planes(const std::string& setting, const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, PlaneChoice>, 3> kChoices{
      {{"all", PlaneChoice::kAll}, {"luma", PlaneChoice::kLuma}, {"chroma", PlaneChoice::kChroma}}};
  for (const auto& [name, choice] : kChoices) {
    if (text == name) {
      return choice;
    }
  }
  throw UsageError(setting + ": '" + text + "' is not one of all, luma and chroma");
}

Strength parse_strength(const std::string& setting, const std::string& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::optional<float> luma = parse_factor(std::string_view(text).substr(0, comma));
  const std::optional<float> chroma =
      comma == text.size() ? luma : parse_factor(std::string_view(text).substr(comma + 1));
  if (!luma || !chroma) {
    throw UsageError(setting + ": '" + text +
                     "' is neither a number from 0 to 10 nor one of light, medium, strong, nor two of these "
                     "for luma and chroma, such as 1,0.5");
  }
  return {*luma, *chroma};
}

NoiseSettings restricted(NoiseSettings settings, PlaneChoice planes) {
  Strength& strength = settings.strength;
  strength.luma = planes == PlaneChoice::kChroma ? 0 : strength.luma;
  strength.chroma = planes == PlaneChoice::kLuma ? 0 : strength.chroma;
  return settings;
}

std::string to_string(const Strength& strength) {
  const std::string luma = shortest_text(strength.luma);
  return strength.luma == strength.chroma ? luma : luma + "," + shortest_text(strength.chroma);
}

float parse_mix(const std::string& setting, const std::string& text) {
  if (const std::optional<float> mix = parse_number(text, 1)) {
    return *mix;
  }
  throw UsageError(setting + ": '" + text + "' is not a number from 0 to 1");
}

}  // namespace limpid
