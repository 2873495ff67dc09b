#include "core/settings/noise_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/frame/plane_names.h"

namespace limpid {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "limpid_noise_profile";
constexpr int kVersion = 1;

// Three decimals more than anybody can measure keep files readable.
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
  }
  if (noise.shape.repetition > 0) {
    json["repetition"] = to_four_decimals(static_cast<double>(noise.shape.repetition));
  }
  return json;
}

// Whether `json` is an array of so many numbers above 0, which then are in `values`.
bool read_numbers(const Json& json, std::size_t count, std::vector<float>& values) {
  if (!json.is_array() || json.size() != count) {
    return false;
  }
  for (const Json& number : json) {
    if (!number.is_number() || !(number.get<float>() > 0) || !std::isfinite(number.get<float>())) {
      return false;
    }
    values.push_back(number.get<float>());
  }
  return true;
}

// `strength` is null for planes that have none.
PlaneNoise plane_from_json(const Json& json, const std::string& name, float* strength = nullptr) {
  PlaneNoise noise;
  const auto refuse = [&name](const std::string& what) -> void {
    throw UsageError("'" + name + "' " + what);
  };
  if (!json.is_object()) {
    refuse("is no object");
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "sigma") {
      if (!value.is_number() || !(value.get<float>() >= 0 && value.get<float>() <= kMaxSigma)) {
        refuse("has a sigma that is no number from 0 to 255");
      }
      noise.sigma = value.get<float>();
    } else if (key == "spectrum") {
      std::vector<float> deviations;
      bool legal = value.is_array() && value.size() == std::size_t{NoiseShape::kFrequencies};
      for (std::size_t row = 0; legal && row < value.size(); ++row) {
        legal = read_numbers(value[row], NoiseShape::kFrequencies, deviations);
      }
      if (!legal) {
        refuse("has a spectrum that isn't 8 rows of 8 numbers above 0");
      }
      float sum = 0;
      for (const float deviation : deviations) {
        sum += deviation * deviation;
      }
      for (std::size_t i = 0; i < deviations.size(); ++i) {
        noise.shape.spectrum[i] = deviations[i] * deviations[i] * static_cast<float>(deviations.size()) / sum;
      }
    } else if (key == "curve") {
      std::vector<float> deviations;
      if (!read_numbers(value, noise.shape.curve.size(), deviations)) {
        refuse("has a curve that isn't " + std::to_string(noise.shape.curve.size()) + " numbers above 0");
      }
      std::copy(deviations.begin(), deviations.end(), noise.shape.curve.begin());
    } else if (key == "repetition") {
      if (!value.is_number() || !(value.get<float>() >= 0 && value.get<float>() < 1)) {
        refuse("has a repetition that is no number from 0 to less than 1");
      }
      noise.shape.repetition = value.get<float>();
    } else if (key == "strength" && strength != nullptr) {
      constexpr float kMost = 10;
      if (!value.is_number() || !(value.get<float>() > 0 && value.get<float>() <= kMost)) {
        refuse("has a strength that is no number above 0 and up to 10");
      }
      *strength = value.get<float>();
    } else {
      refuse("has '" + key + "', which no plane of a noise profile has");
    }
  }
  if (!json.contains("sigma")) {
    refuse("has no sigma");
  }
  return noise;
}

ColorModel color_model_of(const Json& planes) {
  for (const ColorModel model : {ColorModel::kGray, ColorModel::kYuv, ColorModel::kRgb}) {
    const std::vector<std::string_view> names = color_plane_names(model);
    if (planes.is_object() && planes.size() == names.size() &&
        std::all_of(names.begin(), names.end(),
                    [&](std::string_view name) { return planes.contains(name); })) {
      return model;
    }
  }
  throw UsageError("its planes are not Y; Y, U and V; or R, G and B");
}

NoiseProfile from_json(const Json& json) {
  if (!json.is_object() || !json.contains(kMark)) {
    throw UsageError(std::string("it has no '") + kMark + "'");
  }
  if (json[kMark] != kVersion) {
    throw UsageError("it is of a version that this program doesn't know");
  }
  if (!json.contains("planes")) {
    throw UsageError("it has no 'planes'");
  }
  NoiseProfile profile;
  profile.color_model = color_model_of(json["planes"]);
  const std::vector<std::string_view> names = color_plane_names(*profile.color_model);
  for (std::size_t p = 0; p < names.size(); ++p) {
    const std::string name(names[p]);
    const bool is_chroma = profile.color_model == ColorModel::kYuv && p > 0;
    const PlaneNoise plane =
        plane_from_json(json["planes"][name], name, is_chroma ? &profile.noise.chroma_strength[p] : nullptr);
    profile.noise.sigma[p] = plane.sigma;
    profile.noise.shape[p] = plane.shape;
  }
  if (json.contains("opponent")) {
    if (profile.color_model != ColorModel::kRgb || color_model_of(json["opponent"]) != ColorModel::kYuv) {
      throw UsageError("'opponent' goes with R, G and B, and has Y, U and V");
    }
    const std::vector<std::string_view> channels = color_plane_names(ColorModel::kYuv);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const std::string name(channels[c]);
      profile.noise.opponent[c] = plane_from_json(json["opponent"][name], "opponent " + name);
    }
  }
  return profile;
}

}  // namespace

Json to_json(const NoiseProfile& profile) {
  const NoiseModel& noise = profile.noise;
  Json json;
  json[kMark] = kVersion;
  const std::vector<std::string_view> names =
      color_plane_names(profile.color_model.value_or(ColorModel::kYuv));
  for (std::size_t p = 0; p < names.size(); ++p) {
    Json& plane = json["planes"][std::string(names[p])];
    plane = plane_to_json(noise.plane(static_cast<int>(p)));
    if (noise.chroma_strength[p] > 0) {
      plane["strength"] = to_four_decimals(static_cast<double>(noise.chroma_strength[p]));
    }
  }
  if (noise.opponent != NoiseModel().opponent) {
    const std::vector<std::string_view> channels = color_plane_names(ColorModel::kYuv);
    for (std::size_t c = 0; c < channels.size(); ++c) {
      json["opponent"][std::string(channels[c])] = plane_to_json(noise.opponent[c]);
    }
  }
  return json;
}

NoiseProfile parse_noise_profile(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw UsageError("it is no JSON");
  }
  return from_json(json);
}

NoiseProfile read_noise_profile(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw UsageError("cannot read the noise profile '" + path.string() + "'");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return parse_noise_profile(text);
  } catch (const UsageError& error) {
    throw UsageError("'" + path.string() + "' is no noise profile: " + error.what());
  }
}

}  // namespace limpid
