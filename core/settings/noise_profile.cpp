// SPDX-License-Identifier: MIT
#include "core/settings/noise_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "core/settings/json_reader.h"

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

NoiseProfile parse_noise_profile(const std::string& text) { return parse_user_document(text, profile_from); }

NoiseProfile read_noise_profile(const std::string& path) {
  return read_user_document(path, "noise profile", parse_noise_profile);
}

}  // namespace limpid
