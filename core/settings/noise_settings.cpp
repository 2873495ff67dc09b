// SPDX-License-Identifier: MIT
#include "core/settings/noise_settings.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
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
  for (const PlaneChoice planes : {PlaneChoice::kAll, PlaneChoice::kLuma, PlaneChoice::kChroma}) {
    if (text == to_string(planes)) {
      return planes;
    }
  }
  throw UsageError(setting + ": '" + text + "' is not one of all, luma and chroma");
}

std::string to_string(PlaneChoice planes) {
  return planes == PlaneChoice::kAll ? "all" : planes == PlaneChoice::kLuma ? "luma" : "chroma";
}

float parse_strength(const std::string& setting, const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, float>, 3> kStrengths{
      {{"light", 0.7F}, {"medium", 1.0F}, {"strong", 1.4F}}};
  for (const auto& [strength, factor] : kStrengths) {
    if (text == strength) {
      return factor;
    }
  }
  constexpr float kMostStrength = 10;
  if (const std::optional<float> factor = parse_number(text, kMostStrength)) {
    return *factor;
  }
  throw UsageError(setting + ": '" + text +
                   "' is neither a number from 0 to 10 nor one of light, medium, strong");
}

}  // namespace limpid
