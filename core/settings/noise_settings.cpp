// SPDX-License-Identifier: MIT
#include "core/settings/noise_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "limpid_noise_profile";
constexpr int kVersion = 1;

// Three decimals more than can be measured; keeps files readable.
double to_four_decimals(double value) { return std::round(value * 1e4) / 1e4; }

Json plane_to_json(const PlaneNoise& noise) {
  constexpr int kRow = NoiseShape::kFrequencies;
  Json json;
  json["sigma"] = to_four_decimals(static_cast<double>(noise.sigma));
  if (!noise.shape.is_white()) {
    for (int v = 0; v < kRow; ++v) {
      Json row;
      for (int u = 0; u < kRow; ++u) {
        row.push_back(to_four_decimals(std::sqrt(static_cast<double>(noise.shape.spectrum[v * kRow + u]))));
      }
      json["spectrum"].push_back(row);
    }
  }
  if (noise.shape.curve != NoiseShape().curve) {
    for (const float deviation : noise.shape.curve) {
      json["curve"].push_back(to_four_decimals(static_cast<double>(deviation)));
    }
    if (const BrightnessScale& scale = noise.shape.curve.scale; scale != BrightnessScale()) {
      json["brightness"] = {scale.origin, scale.spacing};
    }
  }
  if (noise.shape.repetition > 0) {
    json["repetition"] = to_four_decimals(static_cast<double>(noise.shape.repetition));
  }
  return json;
}

float positive(const JsonValue& value) {
  const auto number = static_cast<float>(value.number(0, std::numeric_limits<float>::max()));
  if (!(number > 0)) {
    value.fail("must be a number above 0");
  }
  return number;
}

void read_spectrum(const JsonValue& value, NoiseShape& shape) {
  std::vector<double> deviations;
  double sum = 0;
  for (const JsonValue& row : value.items(NoiseShape::kFrequencies)) {
    for (const JsonValue& number : row.items(NoiseShape::kFrequencies)) {
      deviations.push_back(static_cast<double>(positive(number)));
      sum += deviations.back() * deviations.back();
    }
  }
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    shape.spectrum[i] =
        static_cast<float>(deviations[i] * deviations[i] * static_cast<double>(deviations.size()) / sum);
  }
}

// Pass null as `strength` for planes without that member.
PlaneNoise plane_from(const JsonValue& plane, float* strength = nullptr) {
  constexpr double kMostStrength = 10;
  PlaneNoise noise;
  noise.sigma = static_cast<float>(plane.at("sigma").number(0, static_cast<double>(kMaxSigma)));
  for (const auto& [key, value] : plane.members()) {
    if (key == "spectrum") {
      read_spectrum(value, noise.shape);
    } else if (key == "curve") {
      const std::vector<JsonValue> deviations = value.items(noise.shape.curve.size());
      std::transform(deviations.begin(), deviations.end(), noise.shape.curve.begin(), positive);
    } else if (key == "brightness") {
      const std::vector<JsonValue> scale = value.items(2);
      noise.shape.curve.scale = {static_cast<float>(scale[0].number(-65536, 65536)), positive(scale[1])};
    } else if (key == "repetition") {
      noise.shape.repetition = static_cast<float>(value.number(0, 1));
      if (!(noise.shape.repetition < 1)) {
        value.fail("must be a number from 0 to less than 1");
      }
    } else if (key == "strength" && strength != nullptr) {
      value.number(0, kMostStrength);
      *strength = positive(value);
    } else if (key != "sigma") {
      value.fail("is not a property of this plane's noise");
    }
  }
  return noise;
}

ColorModel color_model_of(const JsonValue& planes) {
  const std::vector<std::pair<std::string, JsonValue>> members = planes.members();
  for (const ColorModel model : {ColorModel::kGray, ColorModel::kYuv, ColorModel::kRgb}) {
    const std::vector<std::string_view> names = color_plane_names(model);
    if (members.size() == names.size() &&
        std::all_of(names.begin(), names.end(), [&](std::string_view name) { return planes.find(name); })) {
      return model;
    }
  }
  planes.fail("must have the planes Y; Y, U and V; or R, G and B");
}

NoiseProfile profile_from(const JsonValue& json) {
  json.at(kMark).integer(kVersion, kVersion);
  NoiseProfile profile;
  const JsonValue planes = json.at("planes");
  profile.color_model = color_model_of(planes);
  const std::vector<std::string_view> names = color_plane_names(*profile.color_model);
  for (std::size_t p = 0; p < names.size(); ++p) {
    const bool is_chroma = profile.color_model == ColorModel::kYuv && p > 0;
    const PlaneNoise plane =
        plane_from(planes.at(names[p]), is_chroma ? &profile.chroma_strength[p] : nullptr);
    profile.noise.sigma[p] = plane.sigma;
    profile.noise.shape[p] = plane.shape;
  }
  if (const std::optional<JsonValue> opponent = json.find("opponent")) {
    if (profile.color_model != ColorModel::kRgb || color_model_of(*opponent) != ColorModel::kYuv) {
      opponent->fail("must have Y, U and V, beside the planes R, G and B");
    }
    const std::vector<std::string_view> channels = color_plane_names(ColorModel::kYuv);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      profile.noise.opponent[c] = plane_from(opponent->at(channels[c]));
    }
  }
  if (const std::optional<JsonValue> area = json.find("area")) {
    profile.noise.area = region_from(*area);
  }
  return profile;
}

}  // namespace

Json to_json(const Region& region) { return {region.x, region.y, region.width, region.height}; }

Region region_from(const JsonValue& json) {
  const std::vector<JsonValue> numbers = json.items(4);
  const auto number = [&](int i, int least) {
    return static_cast<int>(numbers[i].integer(least, kMaxDimension));
  };
  return {number(0, 0), number(1, 0), number(2, 1), number(3, 1)};
}

Json to_json(const NoiseProfile& profile) {
  const NoiseModel& noise = profile.noise;
  Json json;
  json[kMark] = kVersion;
  const std::vector<std::string_view> names =
      color_plane_names(profile.color_model.value_or(ColorModel::kYuv));
  for (std::size_t p = 0; p < names.size(); ++p) {
    Json& plane = json["planes"][std::string(names[p])];
    plane = plane_to_json(noise.plane(static_cast<int>(p)));
    if (profile.chroma_strength[p] > 0) {
      plane["strength"] = to_four_decimals(static_cast<double>(profile.chroma_strength[p]));
    }
  }
  if (noise.area) {
    json["area"] = to_json(*noise.area);
  }
  if (noise.opponent != NoiseModel().opponent) {
    const std::vector<std::string_view> channels = color_plane_names(ColorModel::kYuv);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      json["opponent"][std::string(channels[c])] = plane_to_json(noise.opponent[c]);
    }
  }
  return json;
}

std::string json_text(const NoiseProfile& profile, int indent) { return to_json(profile).dump(indent); }

NoiseProfile parse_noise_profile(const std::string& text) { return parse_user_document(text, profile_from); }

NoiseProfile read_noise_profile(const std::string& path) {
  return read_user_document(path, "noise profile", parse_noise_profile);
}

namespace {

std::optional<float> parse_number(std::string_view text, float most) {
  const std::optional<float> value = to_number<float>(text);
  return value && *value >= 0 && *value <= most ? value : std::nullopt;
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

// In the order of Repair.
constexpr std::array<const char*, 5> kRepairs = {"off", "pixels", "rows", "dust", "all"};

nlohmann::ordered_json noise_json(const NoiseSettings& settings) {
  if (!settings.noise) {
    return "auto";
  }
  return is_plain_level(*settings.noise) ? nlohmann::ordered_json(levels_text(*settings.noise))
                                         : to_json(*settings.noise);
}
nlohmann::ordered_json strength_json(const NoiseSettings& settings) { return to_string(settings.strength); }
nlohmann::ordered_json repair_json(const NoiseSettings& settings) { return to_string(settings.repair); }
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
      {.name = "repair",
       .value = "NAME",
       .help = "Defects to repair first: off, pixels, rows, dust or all [off]",
       .standard = "off",
       .parse = [](NoiseChoice& choice, const std::string& setting,
                   const std::string& text) { choice.settings.repair = parse_repair(setting, text); },
       .json = repair_json,
       .words = {kRepairs.begin(), kRepairs.end()},
       .any_case = true,
       .details = "pixels: hot and dead pixels of the sensor. rows: noise of whole rows and columns. dust: "
                  "dust and dropouts of a single frame.",
       .advanced = true},
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

Repair parse_repair(const std::string& setting, const std::string& text) {
  const auto* const found = std::ranges::find(kRepairs, lower_case(text));
  if (found == kRepairs.end()) {
    throw UsageError(setting + ": '" + text + "' is not one of off, pixels, rows, dust and all");
  }
  return static_cast<Repair>(found - kRepairs.begin());
}

std::string to_string(Repair repair) { return kRepairs[static_cast<std::size_t>(repair)]; }

std::string to_string(const Strength& strength) {
  const std::string luma = shortest_text(strength.luma);
  const std::string both = luma + "," + shortest_text(strength.chroma);
  return strength.luma == strength.chroma ? luma : may_be_one_number(both) ? both + ".0" : both;
}

}  // namespace limpid
