#include "core/settings/filter_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/lower_case.h"

namespace limpid {
namespace {

std::string names_of(const std::vector<const FilterType*>& types) {
  std::string names;
  for (const FilterType* type : types) {
    names += (names.empty() ? "" : ", ") + type->name;
  }
  return names;
}

// All of `text` as a number; nothing if it isn't one.
template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

const std::string kDelay = "delay";

std::string name_in(const FilterSettings& settings, bool frame_by_frame) {
  return settings.name.empty() ? std::string(default_filter(frame_by_frame)) : settings.name;
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
  const auto refuse = [&](const std::string& setting, const std::vector<const FilterType*>& filters) {
    throw OtherFiltersSetting(dashes + setting + " is no option of the filter " + name + ", but of " +
                              names_of(filters));
  };
  if (settings.profile && type->profiles.empty()) {
    std::vector<const FilterType*> with_profiles;
    for (const FilterType& each : filter_types()) {
      if (!each.profiles.empty()) {
        with_profiles.push_back(&each);
      }
    }
    refuse("profile", with_profiles);
  }
  for (const auto& [parameter, value] : settings.parameters) {
    if (find_parameter(*type, parameter) == nullptr) {
      refuse(parameter, filters_with(parameter));
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

FilterSettings live(FilterSettings settings, bool frame_by_frame) {
  // Whether there is such a filter is for make_filter() to tell.
  const std::string name = name_in(settings, frame_by_frame);
  for (const FilterType* type : filters_with(kDelay)) {
    if (type->name == name) {
      settings.parameters.try_emplace(kDelay, 0);
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
      if (const auto whole = number_of<int>(text)) {
        return *whole;
      }
      throw UsageError(parameter.text.option + ": '" + text + "' is no whole number");
    case ParameterKind::kNumber:
      if (const auto number = number_of<float>(text); number && std::isfinite(*number)) {
        return *number;
      }
      throw UsageError(parameter.text.option + ": '" + text + "' is no number");
    case ParameterKind::kName:
      break;
  }
  return lower_case(text);
}

}  // namespace limpid
