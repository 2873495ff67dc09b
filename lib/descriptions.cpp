// SPDX-License-Identifier: MIT
#include "lib/descriptions.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/filter/filter.h"
#include "core/settings/filter_settings.h"

namespace limpid::lib {
namespace {

struct Description {
  explicit Description(const FilterType& type_of_filter) : type(type_of_filter) {
    for (const std::string& profile : type.profiles) {
      profiles.push_back(profile.c_str());
    }
    const Filter filter = type.make(type.default_profile);
    for (const Parameter<Filter>& parameter : type.parameters) {
      const std::optional<ParameterValue> value = parameter.get(filter);
      defaults.push_back(value ? std::optional(to_string(*value)) : std::nullopt);
    }
  }

  const FilterType& type;
  std::vector<const char*> profiles;
  std::vector<std::optional<std::string>> defaults;
};

const Description& description_of(int filter) {
  static const std::deque<Description> descriptions(filter_types().begin(), filter_types().end());
  if (filter < 0 || filter >= filter_count()) {
    throw UsageError("there is no filter number " + std::to_string(filter));
  }
  return descriptions[static_cast<std::size_t>(filter)];
}

}  // namespace

int filter_count() { return static_cast<int>(filter_types().size()); }

limpid_filter_info describe_filter(int filter) {
  const Description& description = description_of(filter);
  const FilterType& type = description.type;
  return {.struct_size = sizeof(limpid_filter_info),
          .name = type.name.c_str(),
          .help = type.help.c_str(),
          .profiles = description.profiles.data(),
          .profile_count = static_cast<std::int32_t>(type.profiles.size()),
          .default_profile = type.profiles.empty() ? nullptr : type.default_profile.c_str(),
          .parameter_count = static_cast<std::int32_t>(type.parameters.size()),
          .is_experimental = 0};
}

limpid_parameter_info describe_parameter(int filter, int parameter) {
  const Description& description = description_of(filter);
  if (parameter < 0 || parameter >= static_cast<int>(description.defaults.size())) {
    throw UsageError("the filter has no parameter number " + std::to_string(parameter));
  }
  const Parameter<Filter>& own = description.type.parameters[static_cast<std::size_t>(parameter)];
  const std::optional<std::string>& value = description.defaults[static_cast<std::size_t>(parameter)];
  return {.struct_size = sizeof(limpid_parameter_info),
          .name = own.text.option.c_str(),
          .kind = own.kind == ParameterKind::kInteger  ? LIMPID_INTEGER
                  : own.kind == ParameterKind::kNumber ? LIMPID_NUMBER
                                                       : LIMPID_NAME,
          .help = own.text.help.c_str(),
          .range = own.text.range.c_str(),
          .default_value = value ? value->c_str() : nullptr};
}

}  // namespace limpid::lib
