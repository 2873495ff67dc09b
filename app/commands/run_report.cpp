// SPDX-License-Identifier: MIT
#include "app/commands/run_report.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <variant>

#include "app/pipeline/noise_text.h"
#include "core/frame/plane_names.h"
#include "core/parameters/parameter.h"
#include "core/settings/noise_profile.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

// The values by section and name; a section that is left out is null.
void add_settings(const Filter& filter, Json& json) {
  for (const Parameter<Filter>& parameter : type_of(filter).parameters) {
    const std::optional<ParameterValue> value = parameter.get(filter);
    const ParameterText& text = parameter.text;
    if (!text.section.empty() && !value) {
      json[text.section];
      continue;
    }
    Json& section = text.section.empty() ? json : json[text.section];
    section[text.name] = value ? std::visit([](const auto& held) { return Json(held); }, *value) : Json();
  }
}

}  // namespace

Json to_json(const Filter& filter, const NoiseModel& noise, const FrameFormat& format) {
  const FilterType& type = type_of(filter);
  Json json;
  json["name"] = type.name;
  if (!type.resolve) {
    add_settings(filter, json);
    return json;
  }
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    Json& settings = json[std::string(names[plane])];
    if (const float sigma = noise.sigma[plane]; sigma > 0) {
      add_settings(type.resolve(filter, sigma), settings);
    }
  }
  return json;
}

Json evidence_report(const NoiseEstimate& noise) {
  Json json{{"source", source_name(noise.evidence.source)}, {"certainty", noise.evidence.certainty}};
  if (noise.area) {
    json["area"] = to_json(*noise.area);
  }
  return json;
}

Json to_json(const NoiseModel& noise, const FrameFormat& format) {
  Json json;
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    json[std::string(names[plane])] = noise.sigma[plane];
  }
  return json;
}

}  // namespace limpid::app
