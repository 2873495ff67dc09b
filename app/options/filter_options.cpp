// SPDX-License-Identifier: MIT
#include "app/options/filter_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/base/error.h"

namespace limpid::app {
namespace {

constexpr const char* kFilterGroup = "Filter and quality";
// Parameters that have an option of their own, with their defaults in help.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCommon = {
    {{"reach", "by profile"}, {"delay", "no limit; 0 in windows"}, {"steps", "2"}}};

const auto* find_common(std::string_view parameter) {
  return std::ranges::find(kCommon, parameter, &std::pair<std::string_view, std::string_view>::first);
}

// "fast, lc, np or high".
std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return list;
}

}  // namespace

FilterOptions::FilterOptions(std::string_view only) : only_(only) {
  for (const FilterType& type : filter_types()) {
    if (only.empty() || type.name == only) {
      types_.push_back(&type);
    }
  }
}

void FilterOptions::add_to(CommandLine& command) {
  if (only_.empty()) {
    command
        .add_option("--filter", filter_,
                    fmt::format("Filter, with any of its parameters: vbm4d:step=4:tau=900. \"limpid "
                                "filters\" lists them [{}; for pictures {}]",
                                default_filter(false), default_filter(true)))
        ->type_name("FILTER")
        ->words(filter_names())
        ->any_case()
        ->group(kFilterGroup);
  }
  const auto with_profiles =
      std::ranges::find_if(types_, [](const FilterType* type) { return !type->profiles.empty(); });
  if (with_profiles != types_.end()) {
    const FilterType& type = **with_profiles;
    command
        .add_option(
            "--profile", profile_,
            "Quality: " + list_of(type.profiles) + ", from fastest to best [" + type.default_profile + "]")
        ->details(only_.empty() ? "The profiles of vnlb are " + list_of(filter_type("vnlb").profiles) + "."
                                : "")
        ->type_name("NAME")
        ->words(type.profiles)
        ->any_case()
        ->group(kFilterGroup);
  }
  add_parameters(command);
}

void FilterOptions::add_parameters(CommandLine& command) {
  for (const FilterType* type : types_) {
    for (const Parameter<Filter>& parameter : type->parameters) {
      const std::string& name = parameter.text.option;
      const auto known = std::ranges::find(parameters_, name, &ParameterOption::name);
      if (known != parameters_.end()) {
        known->filters.push_back(type);
      } else if (!only_.empty() || find_common(name) != kCommon.end()) {
        parameters_.push_back({.name = name, .filters = {type}});
      }
    }
  }
  for (ParameterOption& each : parameters_) {
    const Parameter<Filter>& parameter = *find_parameter(*each.filters.front(), each.name);
    const std::string name = "--" + each.name;
    const std::string help = help_of(each);
    Option* option = nullptr;
    switch (parameter.kind) {
      case ParameterKind::kInteger:
        option = command.add_option(name, each.integer, help)->type_name("N");
        break;
      case ParameterKind::kNumber:
        option = command.add_option(name, each.number, help)->type_name("X");
        break;
      case ParameterKind::kName:
        option = command.add_option(name, each.word, help)
                     ->type_name(parameter.names.empty() ? "N[,M]" : "NAME")
                     ->words(parameter.names)
                     ->any_case();
        break;
    }
    option->group(kFilterGroup)->advanced();
  }
}

// The help of the parameter, with its range for one filter, with the names of several.
std::string FilterOptions::help_of(const ParameterOption& option) const {
  const ParameterText& text = find_parameter(*option.filters.front(), option.name)->text;
  if (!only_.empty()) {
    return text.help + (text.range.empty() ? "" : " (" + text.range + ")");
  }
  std::string names;
  for (const FilterType* type : option.filters) {
    names += (names.empty() ? "" : ", ") + type->name;
  }
  return fmt::format("{} ({}) [{}]", text.help, names, find_common(option.name)->second);
}

std::string FilterOptions::name(bool frame_by_frame) const {
  const std::string name = settings().name;
  return name.empty() ? std::string(default_filter(frame_by_frame)) : name;
}

std::string FilterOptions::profile() const {
  if (const std::optional<std::string> given = settings().profile) {
    return *given;
  }
  const auto first =
      std::ranges::find_if(types_, [](const FilterType* type) { return !type->profiles.empty(); });
  return first == types_.end() ? "" : (*first)->default_profile;
}

void FilterOptions::check() const {
  try {
    static_cast<void>(filter(false));
  } catch (const UsageError& wrong_for_video) {
    if (!only_.empty() || !settings().name.empty()) {
      throw;
    }
    // The options may suit a picture. If not, the message comes from the filter that has the option.
    try {
      static_cast<void>(filter(true));
    } catch (const UsageError& wrong_for_pictures) {
      const bool is_videos = dynamic_cast<const OtherFiltersSetting*>(&wrong_for_video) == nullptr;
      throw UsageError(is_videos ? wrong_for_video.what() : wrong_for_pictures.what());
    }
  }
}

FilterSettings FilterOptions::settings() const {
  FilterSettings own{.name = only_, .profile = {}, .parameters = {}};
  if (!filter_.empty()) {
    try {
      own = parse_filter_settings(filter_);
    } catch (const UsageError& error) {
      throw UsageError(std::string("--filter: ") + error.what());
    }
  }
  const auto fail_twice = [](const std::string& name) {
    throw UsageError("--" + name + " is given twice: as an option and in --filter");
  };
  FilterSettings settings = own.name.empty() ? base_ : own;
  if (profile_ && own.profile) {
    fail_twice("profile");
  }
  settings.profile = profile_ ? profile_ : settings.profile;
  for (const ParameterOption& given : parameters_) {
    std::optional<ParameterValue> value;
    if (given.integer) {
      value = *given.integer;
    } else if (given.number) {
      value = *given.number;
    } else if (given.word) {
      value = *given.word;
    }
    if (value && own.parameters.contains(given.name)) {
      fail_twice(given.name);
    } else if (value) {
      settings.parameters[given.name] = *value;
    }
  }
  return settings;
}

Filter FilterOptions::filter(bool frame_by_frame) const {
  try {
    return make_filter(settings(), frame_by_frame, "--");
  } catch (const OtherFiltersSetting&) {
    throw;
  } catch (const UsageError& error) {
    // Messages of filters lack the name of the option.
    const std::string sentence = error.what();
    for (const ParameterOption& given : parameters_) {
      const bool is_given = given.integer || given.number || given.word;
      if (is_given && sentence.find(" " + given.name + " ") != std::string::npos) {
        throw UsageError("--" + given.name + ": " + sentence);
      }
    }
    throw;
  }
}

bool FilterOptions::is_given() const {
  const FilterSettings given = settings();
  return (only_.empty() && !given.name.empty()) || given.profile.has_value() || !given.parameters.empty();
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterType& type : filter_types()) {
    names.push_back(type.name);
  }
  return names;
}

}  // namespace limpid::app
