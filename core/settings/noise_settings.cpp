// SPDX-License-Identifier: MIT
#include "core/settings/noise_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
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

void parse_sigma(NoiseChoice& choice, const std::string& setting, const std::string& text) {
  std::optional<NoiseProfile>& noise = choice.settings.noise;
  if (text == "auto") {
    noise.reset();
  } else if (const std::optional<NoiseModel> levels = parse_levels(text)) {
    noise = NoiseProfile{*levels, std::nullopt};
  } else {
    throw UsageError(
        setting + ": '" + text +
        "' is not a noise level: a number from 0 to 255, in 8-bit code values (of 16 bits: divided by 256), "
        "three of them separated by commas, or auto");
  }
}

void parse_noise(NoiseChoice& choice, const std::string& setting, const std::string& text) {
  std::optional<NoiseProfile>& noise = choice.settings.noise;
  const bool is_option = setting.starts_with("--");  // which has --sigma beside it
  if (text.starts_with("{")) {
    try {
      noise = parse_noise_profile(text);
    } catch (const UsageError& error) {
      throw UsageError(setting + ": the text is not a noise profile: " + error.what());
    }
  } else if (text.ends_with(".json")) {
    noise = read_noise_profile(text);
  } else if (text == "auto" || (parse_levels(text) && !is_option)) {
    parse_sigma(choice, setting, text);
  } else if (is_option) {
    throw UsageError(
        setting + ": '" + text +
        "' is neither auto nor a profile (a file that ends in .json); --sigma N sets a level, and "
        "--strength light or strong adjusts it");
  } else {
    throw UsageError(
        setting + ": '" + text +
        "' is neither auto, nor a noise level (a number from 0 to 255, or three of them separated "
        "by commas), nor a profile (a file that ends in .json)");
  }
}

/// Two groups of digits can be one number with a decimal comma.
bool may_be_one_number(const std::string& text) {
  return std::ranges::count(text, ',') == 1 && text.front() != ',' && text.back() != ',' &&
         text.find_first_not_of("0123456789,") == std::string::npos;
}

void parse_strength(NoiseChoice& choice, const std::string& setting, const std::string& given) {
  const std::string text = lower_case(given);
  if (may_be_one_number(text)) {
    std::string one = text;
    std::string two = text + ".0";
    one.replace(one.find(','), 1, ".");
    two.replace(two.find(','), 1, ".0,");
    throw UsageError(setting + ": '" + text + "' can be one number or two: write " + one + ", or " + two +
                     " for luma and chroma; " + (setting.starts_with("--") ? "--planes " : "planes=") +
                     "chroma leaves luma as it is");
  }
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::optional<float> luma = parse_factor(std::string_view(text).substr(0, comma));
  const std::optional<float> chroma =
      comma == text.size() ? luma : parse_factor(std::string_view(text).substr(comma + 1));
  if (!luma || !chroma) {
    throw UsageError(
        setting + ": '" + text +
        "' is not a strength: a number from 0 to 10, light, medium or strong, or two of these for "
        "luma and chroma, as in 1,0.5");
  }
  choice.settings.strength = {*luma, *chroma};
}

void parse_planes(NoiseChoice& choice, const std::string& setting, const std::string& given) {
  static constexpr std::array<std::pair<std::string_view, PlaneChoice>, 3> kChoices{
      {{"all", PlaneChoice::kAll}, {"luma", PlaneChoice::kLuma}, {"chroma", PlaneChoice::kChroma}}};
  const std::string text = lower_case(given);
  const auto* const found =
      std::ranges::find(kChoices, text, &std::pair<std::string_view, PlaneChoice>::first);
  if (found == kChoices.end()) {
    throw UsageError(setting + ": '" + text + "' is not one of all, luma and chroma");
  }
  choice.planes = found->second;
}

void parse_mix(NoiseChoice& choice, const std::string& setting, const std::string& text) {
  const std::optional<float> mix = parse_number(text, 1);
  if (!mix) {
    throw UsageError(setting + ": '" + text + "' is not a number from 0 to 1");
  }
  choice.settings.mix = *mix;
}

nlohmann::ordered_json noise_json(const NoiseSettings& settings) {
  if (!settings.noise) {
    return "auto";
  }
  return is_plain_level(*settings.noise) ? nlohmann::ordered_json(levels_text(*settings.noise))
                                         : to_json(*settings.noise);
}
nlohmann::ordered_json strength_json(const NoiseSettings& settings) { return to_string(settings.strength); }
nlohmann::ordered_json mix_json(const NoiseSettings& settings) { return settings.mix; }

}  // namespace

const std::vector<NoiseField>& noise_fields() {
  static const std::vector<NoiseField> fields = {
      {.name = "noise",
       .value = "auto|FILE",
       .help = "Noise: auto (estimated), or a profile of \"limpid noise\" [auto]",
       .standard = "auto",
       .parse = parse_noise,
       .json = noise_json,
       .words = {"auto"},
       .ending = ".json"},
      {.name = "sigma",
       .value = "N|Y,U,V|auto",
       .help = "Noise level in 8-bit steps (16 bits: / 256), N or Y,U,V, 0-255 [auto]",
       .standard = "auto",
       .parse = parse_sigma,
       .words = {"auto"},
       .details = "The standard deviation of the noise. \"limpid noise\" prints it in 8-bit steps, and of 16 "
                  "bits in "
                  "code values, too."},
      {.name = "strength",
       .value = "X|X,X|NAME",
       .help = "Factor of the noise level, X or LUMA,CHROMA, 0-10, or light (0.7), medium, strong (1.4) [1]",
       .standard = "medium",
       .parse = parse_strength,
       .json = strength_json,
       .words = {"light", "medium", "strong"},
       .any_case = true,
       .details = "Strengths above 1 also add to the level if little noise was detected."},
      {.name = "planes",
       .value = "NAME",
       .help = "Planes to filter: all, luma or chroma [all]",
       .standard = "all",
       .parse = parse_planes,
       .words = {"all", "luma", "chroma"},
       .any_case = true},
      {.name = "mix",
       .value = "X",
       .help = "Share of the noisy frame in the result, 0-1 [0]",
       .standard = "0",
       .parse = parse_mix,
       .json = mix_json,
       .advanced = true},
  };
  return fields;
}

const NoiseField* find_noise_field(const std::string& name) {
  const auto found = std::ranges::find(noise_fields(), name, &NoiseField::name);
  return found == noise_fields().end() ? nullptr : &*found;
}

nlohmann::ordered_json to_json(const NoiseSettings& settings) {
  nlohmann::ordered_json json;
  for (const NoiseField& field : noise_fields()) {
    if (field.json != nullptr) {
      json[field.name] = field.json(settings);
    }
  }
  return json;
}

void read_json(const JsonValue& object, NoiseSettings& settings) {
  NoiseChoice choice{settings};
  for (const NoiseField& field : noise_fields()) {
    const std::optional<JsonValue> member = field.json == nullptr ? std::nullopt : object.find(field.name);
    if (!member) {
      continue;
    }
    const bool is_profile = field.json == noise_json && member->json().is_object();
    const std::string text =
        is_profile || member->is_number() ? member->json().dump() : lower_case(member->text());
    // A document does not refer to files.
    const auto parse = field.json == noise_json && !is_profile ? parse_sigma : field.parse;
    try {
      parse(choice, field.name, text);
    } catch (const UsageError& error) {
      member->fail(std::string("is not valid: ") + error.what());
    }
  }
  settings = choice.settings;
}

NoiseSettings NoiseChoice::chosen() const {
  NoiseSettings result = settings;
  result.strength.luma = planes == PlaneChoice::kChroma ? 0 : result.strength.luma;
  result.strength.chroma = planes == PlaneChoice::kLuma ? 0 : result.strength.chroma;
  return result;
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

std::string to_string(const Strength& strength) {
  const std::string luma = shortest_text(strength.luma);
  const std::string both = luma + "," + shortest_text(strength.chroma);
  return strength.luma == strength.chroma ? luma : may_be_one_number(both) ? both + ".0" : both;
}

}  // namespace limpid
