// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/filter/filter.h"
#include "core/parameters/parameter.h"

namespace limpid {

/// The error for a setting that belongs to other filters.
class OtherFiltersSetting : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A filter as given by settings. Values that are not given follow from the filter.
struct FilterSettings {
  std::string name;                                  ///< empty: default_filter()
  std::optional<std::string> profile;                ///< or a word for quality; nothing: the default
  std::map<std::string, ParameterValue> parameters;  ///< keys are ParameterText::option

  bool operator==(const FilterSettings&) const = default;
};

/// Makes a filter from settings. A delay of 0 selects the filter's defaults for live video
/// (FilterDescription::make_live). If no name is given, `frame_by_frame` selects the default filter. Messages
/// write `dashes` before the names of settings. Throws UsageError for an unknown name, settings of other
/// filters (OtherFiltersSetting), contradictory settings, and illegal values.
Filter make_filter(const FilterSettings& settings, bool frame_by_frame, const std::string& dashes = "");

/// Parses "bm3d:profile=fast:tau=99": a filter's name and any of its settings. Throws UsageError for unknown
/// names and settings, illegal values, and contradictory settings.
FilterSettings parse_filter_settings(const std::string& text);

/// The value of the setting "quality", one of quality_words(), or of "profile", any name, in lower case.
/// Throws a UsageError that begins with `setting` for other words.
std::string parse_quality(const std::string& setting, const std::string& text);

/// The text that parse_value() parses.
std::string to_string(const ParameterValue& value);

/// The text that parse_filter_settings() parses. The settings must have a name.
std::string to_string(const FilterSettings& settings);

/// Settings for live video: adds a delay of `delay` frames if the filter has that parameter and none is
/// given.
FilterSettings live(FilterSettings settings, bool frame_by_frame, int delay = 0);

/// All filters that have a parameter of this name.
std::vector<const FilterType*> filters_with(std::string_view parameter);
/// Null if the filter has no parameter of this name.
const Parameter<Filter>* find_parameter(const FilterType& type, std::string_view name);

/// Parses a value of the parameter; case does not matter in names. Throws a UsageError that begins with the
/// parameter's name if a number is required and `text` is not one.
ParameterValue parse_value(const Parameter<Filter>& parameter, const std::string& text);

}  // namespace limpid
