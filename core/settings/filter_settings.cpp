// SPDX-License-Identifier: MIT
#include "core/settings/filter_settings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <variant>

#include "core/base/text.h"
#include "core/settings/noise_settings.h"

namespace limpid {
namespace {

std::string names_of(const std::vector<const FilterType*>& types) {
  std::string names;
  for (const FilterType* type : types) {
    names += (names.empty() ? "" : ", ") + type->name;
  }
  return names;
}

const std::string kDelay = "delay";

std::string name_in(const FilterSettings& settings, bool frame_by_frame) {
  return settings.name.empty() ? std::string(default_filter(frame_by_frame)) : settings.name;
}

[[noreturn]] void refuse(const FilterType& type, const std::string& setting,
                         const std::vector<const FilterType*>& filters) {
  const bool means_frames = setting.ends_with("radius") && find_parameter(type, "reach") != nullptr;
  throw OtherFiltersSetting(setting + " is no option of the filter " + type.name + ", but of " +
                            names_of(filters) +
                            (means_frames ? "; reach sets the number of frames before and after" : ""));
}

// Throws the UsageError for a setting that `type` does not have.
[[noreturn]] void refuse_setting(const FilterType& type, const std::string& name) {
  if (const std::vector<const FilterType*> filters = filters_with(name); !filters.empty()) {
    refuse(type, name, filters);
  }
  if (find_noise_field(name) != nullptr) {
    throw UsageError(type.name + " has no option " + name + "; " + name + " is set beside the filter: --" +
                     name + " of the program, " + name + " of the library");
  }
  std::vector<std::string> names = {"quality", "profile"};
  for (const Parameter<Filter>& parameter : type.parameters) {
    names.push_back(parameter.text.option);
  }
  std::ranges::transform(noise_fields(), std::back_inserter(names), &NoiseField::name);
  throw UsageError(type.name + " has no option " + name + did_you_mean(name, names));
}

// Parses one setting: "reach=4".
void add_setting(FilterSettings& settings, const FilterType& type, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw UsageError("'" + text + "' is not of the form option=value");
  }
  const std::string name = lower_case(text.substr(0, equals));
  const std::string value = text.substr(equals + 1);
  if (name == "profile" || name == "quality") {
    settings.profile = profile_for(type.profiles, parse_quality(name, value));
  } else if (const Parameter<Filter>* const parameter = find_parameter(type, name)) {
    settings.parameters[name] = parse_value(*parameter, value);
  } else {
    refuse_setting(type, name);
  }
}

void require_name_only(const std::string& name) {
  const std::size_t end = name.find_first_of(", ");
  if (name.find('=') != std::string::npos && end != std::string::npos) {
    throw UsageError("parameters follow a colon: " + name.substr(0, end) + ":" + name.substr(end + 1));
  }
}

bool is_live(const FilterSettings& settings) {
  const auto delay = settings.parameters.find(kDelay);
  return delay != settings.parameters.end() && delay->second == ParameterValue(0);
}

}  // namespace

Filter make_filter(const FilterSettings& settings, bool frame_by_frame, const std::string& dashes) {
  const std::string name = name_in(settings, frame_by_frame);
  const FilterType* type = nullptr;
  try {
    type = &filter_type(name);
  } catch (const UsageError& error) {
    throw UsageError(dashes + "filter: " + error.what());
  }
  if (settings.profile && type->profiles.empty()) {
    std::vector<const FilterType*> with_profiles;
    for (const FilterType& each : filter_types()) {
      if (!each.profiles.empty()) {
        with_profiles.push_back(&each);
      }
    }
    refuse(*type, dashes + "quality", with_profiles);
  }
  for (const auto& [parameter, value] : settings.parameters) {
    if (find_parameter(*type, parameter) == nullptr) {
      refuse(*type, dashes + parameter, filters_with(parameter));
    }
  }
  const auto& make = is_live(settings) && type->make_live ? type->make_live : type->make;
  Filter filter = make(settings.profile.value_or(type->default_profile));
  for (const Parameter<Filter>& parameter : type->parameters) {
    if (const auto given = settings.parameters.find(parameter.text.option);
        given != settings.parameters.end()) {
      parameter.set(filter, given->second);
    }
  }
  check_parameters(*type, filter);
  return filter;
}

FilterSettings parse_filter_settings(const std::string& text) {
  const std::size_t end_of_name = std::min(text.find(':'), text.size());
  require_name_only(text.substr(0, end_of_name));
  const FilterType& type = filter_type(lower_case(text.substr(0, end_of_name)));
  FilterSettings settings{.name = type.name, .profile = {}, .parameters = {}};
  try {
    for (std::size_t begin = end_of_name + 1; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      add_setting(settings, type, text.substr(begin, end - begin));
      begin = end + 1;
    }
    static_cast<void>(make_filter(settings, false));
  } catch (const UsageError& error) {
    throw UsageError(text + ": " + error.what());
  }
  return settings;
}

std::string parse_quality(const std::string& setting, const std::string& text) {
  std::string word = lower_case(text);
  const std::vector<std::string>& words = quality_words();
  if (setting.ends_with("quality") && std::ranges::find(words, word) == words.end()) {
    std::string list;
    for (const std::string& each : words) {
      list += (list.empty() ? "" : each == words.back() ? " or " : ", ") + each;
    }
    throw UsageError(setting + ": '" + text + "' is not " + list);
  }
  return word;
}

std::string to_string(const ParameterValue& value) {
  return std::visit(
      [](const auto& own) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(own)>>) {
          return shortest_text(own);
        } else {
          return own;
        }
      },
      value);
}

std::string to_string(const FilterSettings& settings) {
  std::string text = settings.name;
  if (settings.profile) {
    const std::string quality = quality_name(*settings.profile);
    const bool is_word = std::ranges::find(quality_words(), quality) != quality_words().end();
    text += (is_word ? ":quality=" : ":profile=") + quality;
  }
  for (const auto& [name, value] : settings.parameters) {
    text += ":" + name + "=" + to_string(value);
  }
  return text;
}

FilterSettings live(FilterSettings settings, bool frame_by_frame, int delay) {
  // make_filter() reports unknown names.
  const std::string name = name_in(settings, frame_by_frame);
  for (const FilterType* type : filters_with(kDelay)) {
    if (type->name == name) {
      settings.parameters.try_emplace(kDelay, delay);
    }
  }
  return settings;
}

std::vector<const FilterType*> filters_with(std::string_view parameter) {
  std::vector<const FilterType*> filters;
  for (const FilterType& type : filter_types()) {
    if (find_parameter(type, parameter) != nullptr) {
      filters.push_back(&type);
    }
  }
  return filters;
}

const Parameter<Filter>* find_parameter(const FilterType& type, std::string_view name) {
  const auto found = std::find_if(type.parameters.begin(), type.parameters.end(),
                                  [&](const auto& parameter) { return parameter.text.option == name; });
  return found == type.parameters.end() ? nullptr : &*found;
}

ParameterValue parse_value(const Parameter<Filter>& parameter, const std::string& text) {
  switch (parameter.kind) {
    case ParameterKind::kInteger:
      if (const auto whole = to_number<int>(text)) {
        return *whole;
      }
      throw UsageError(parameter.text.option + ": '" + text + "' is not a whole number");
    case ParameterKind::kNumber:
      if (const auto number = to_number<float>(text); number && std::isfinite(*number)) {
        return *number;
      }
      throw UsageError(parameter.text.option + ": '" + text + "' is not a number");
    case ParameterKind::kName:
      break;
  }
  return lower_case(text);
}

}  // namespace limpid
