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

/// A setting is given that the filter doesn't have.
class OtherFiltersSetting : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A filter in the words of settings: what is asked for, the rest being the filter's own choice.
struct FilterSettings {
  std::string name;                                  ///< empty: that of default_filter()
  std::optional<std::string> profile;                ///< nothing: the filter's default, if it has any
  std::map<std::string, ParameterValue> parameters;  ///< by ParameterText::option
};

/// A delay of 0 is for those who watch live: the rest is the filter's own choice for them
/// (FilterDescription::make_live). Throws UsageError for an unknown name, settings that don't belong to the
/// filter (OtherFiltersSetting) or contradict each other, and illegal values. `frame_by_frame` decides if no
/// name is given. Sentences write settings' names behind `dashes`.
Filter make_filter(const FilterSettings& settings, bool frame_by_frame, const std::string& dashes = "");

/// "bm3d:profile=fast:tau=99": a filter's name and any of its settings. Throws UsageError for unknown names
/// and settings, illegal values, and settings that contradict each other.
FilterSettings parse_filter_settings(const std::string& text);

/// The settings of those who watch live: with a delay of 0, if the filter may have one and none is given.
FilterSettings live(FilterSettings settings, bool frame_by_frame);

/// Of all filters: those that have a parameter of this name.
std::vector<const FilterType*> filters_with(std::string_view parameter);
/// Nothing if the filter has none of this name.
const Parameter<Filter>* find_parameter(const FilterType& type, std::string_view name);

/// The value that `text` stands for; names are the same in capitals. Throws UsageError, which begins with the
/// parameter's name, if it is no number where there should be one.
ParameterValue parse_value(const Parameter<Filter>& parameter, const std::string& text);

}  // namespace limpid
