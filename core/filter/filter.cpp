// SPDX-License-Identifier: MIT
#include "core/filter/filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/error.h"

namespace limpid {
namespace {

// Converts the description of one of the variant's filters to a description of Filter.
template <typename Parameters>
FilterType as_filter(const FilterDescription<Parameters>& own) {
  FilterType type;
  type.name = own.name;
  type.help = own.help;
  type.profiles = own.profiles;
  type.default_profile = own.default_profile;
  type.make = [make = own.make](const std::string& profile) { return Filter(make(profile)); };
  for (const Parameter<Parameters>& parameter : own.parameters) {
    type.parameters.push_back(
        {parameter.text, parameter.kind, parameter.names,
         [get = parameter.get](const Filter& filter) { return get(std::get<Parameters>(filter)); },
         [set = parameter.set](Filter& filter, const ParameterValue& value) {
           set(std::get<Parameters>(filter), value);
         },
         [check = parameter.check](const Filter& filter) { check(std::get<Parameters>(filter)); }});
  }
  if (own.check_together) {
    type.check_together = [check = own.check_together](const Filter& filter) {
      check(std::get<Parameters>(filter));
    };
  }
  if (own.make_live) {
    type.make_live = [make = own.make_live](const std::string& profile) { return Filter(make(profile)); };
  }
  if (own.resolve) {
    type.resolve = [resolve = own.resolve](const Filter& filter, float sigma) {
      return Filter(resolve(std::get<Parameters>(filter), sigma));
    };
  }
  if (own.reach) {
    type.reach = [reach = own.reach](const Filter& filter) { return reach(std::get<Parameters>(filter)); };
  }
  return type;
}

template <std::size_t... kIndices>
std::vector<FilterType> describe_all(std::index_sequence<kIndices...> /*indices*/) {
  return {as_filter(std::variant_alternative_t<kIndices, Filter>::description())...};
}

}  // namespace

const std::vector<FilterType>& filter_types() {
  static const std::vector<FilterType> types =
      describe_all(std::make_index_sequence<std::variant_size_v<Filter>>());
  return types;
}

const FilterType& filter_type(std::string_view name) {
  const std::vector<FilterType>& types = filter_types();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const FilterType& type) { return type.name == name; });
  if (found == types.end()) {
    std::string legal;
    for (const FilterType& type : types) {
      legal += (legal.empty() ? "" : ", ") + type.name;
    }
    throw UsageError("there is no filter \"" + std::string(name) + "\"; there are " + legal);
  }
  return *found;
}

const FilterType& type_of(const Filter& filter) { return filter_types()[filter.index()]; }

void validate(const Filter& filter) {
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
}

std::string_view default_filter(bool frame_by_frame) {
  return frame_by_frame ? Bm3dParameters::description().name : Vbm4dParameters::description().name;
}

Reach reach_of(const Filter& filter) {
  const FilterType& type = type_of(filter);
  return type.reach ? type.reach(filter) : Reach{};
}

void require_bounded_reach(const Filter& filter, std::string_view user) {
  if (reach_of(filter).unbounded) {
    throw UsageError(std::string(user) + " cannot use the filter " + std::string(to_string(filter)) +
                     ", whose results depend on all earlier frames; use vbm4d:delay=0");
  }
}

std::string_view to_string(const Filter& filter) { return type_of(filter).name; }

Filter parse_filter(std::string_view name) {
  const FilterType& type = filter_type(name);
  return type.make(type.default_profile);
}

}  // namespace limpid
