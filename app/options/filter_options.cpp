#include "app/options/filter_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace limpid::app {
namespace {

std::string names_of(const std::vector<const FilterType*>& types) {
  std::string names;
  for (const FilterType* type : types) {
    names += (names.empty() ? "" : ", ") + type->name;
  }
  return names;
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

FilterOptions::FilterOptions(std::string_view only) {
  for (const FilterType& type : filter_types()) {
    if (only.empty() || type.name == only) {
      types_.push_back(&type);
    }
  }
  name_ = only;
}

void FilterOptions::add_to(CommandLine& command) {
  if (types_.size() > 1) {
    std::string help;
    for (const FilterType* type : types_) {
      help += (help.empty() ? "" : "; ") + type->name + " " + type->help;
    }
    command
        .add_option(
            "--filter", name_,
            fmt::format("{} [{}; of a single picture {}]", help, default_filter(false), default_filter(true)))
        ->type_name("NAME")
        ->words(filter_names())
        ->any_case()
        ->group("Denoising");
  }
  for (const FilterType* type : types_) {
    if (!type->profiles.empty() && profile_option_ == nullptr) {
      profile_option_ =
          command
              .add_option("--profile", profile_,
                          list_of(type->profiles) + ", from fastest to best [" + type->default_profile + "]")
              ->type_name("NAME")
              ->words(type->profiles)
              ->any_case()
              ->group("Denoising");
    }
  }
  add_parameters(command);
}

void FilterOptions::add_parameters(CommandLine& command) {
  for (const FilterType* type : types_) {
    for (const Parameter<Filter>& parameter : type->parameters) {
      const auto known = std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& option) {
        return option.name == parameter.text.option;
      });
      if (known != parameters_.end()) {
        known->filters.push_back(type);
      } else {
        parameters_.push_back({.name = parameter.text.option, .filters = {type}});
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
        option =
            command.add_option(name, each.word, help)->type_name("NAME")->words(parameter.names)->any_case();
        break;
    }
    each.option = option->group(parameter.text.group);
  }
}

// What it does and which numbers are legal; whose it is, where the heading above it is of several filters.
std::string FilterOptions::help_of(const ParameterOption& option) const {
  const Parameter<Filter>& parameter = *find_parameter(*option.filters.front(), option.name);
  const ParameterText& first = parameter.text;
  std::set<const FilterType*> under_heading;
  for (const FilterType* type : types_) {
    for (const Parameter<Filter>& other : type->parameters) {
      if (other.text.group == first.group) {
        under_heading.insert(type);
      }
    }
  }
  std::string help = first.help;
  std::vector<std::pair<std::string, std::vector<const FilterType*>>> ranges;
  for (const FilterType* type : option.filters) {
    const std::string& range = find_parameter(*type, option.name)->text.range;
    if (ranges.empty() || ranges.back().first != range) {
      ranges.push_back({range, {}});
    }
    ranges.back().second.push_back(type);
  }
  for (const auto& [range, types] : ranges) {
    const bool of_first = types.front() == option.filters.front();
    if (parameter.kind != ParameterKind::kName && !range.empty()) {
      help += of_first ? ", " + range : "; of " + names_of(types) + ": " + range;
    }
    if (of_first && under_heading.size() > 1) {
      help += "; " + names_of(types);
    }
  }
  return help;
}

std::string FilterOptions::profile() const {
  if (profile_) {
    return *profile_;
  }
  const auto first = std::find_if(types_.begin(), types_.end(),
                                  [](const FilterType* type) { return !type->profiles.empty(); });
  return first == types_.end() ? "" : (*first)->default_profile;
}

void FilterOptions::check() const {
  try {
    static_cast<void>(filter(false));
  } catch (const UsageError& wrong_for_video) {
    if (!name_.empty()) {
      throw;
    }
    // It may be right for a picture. If not, who has the option knows what is wrong with it.
    try {
      static_cast<void>(filter(true));
    } catch (const UsageError& wrong_for_pictures) {
      const bool is_videos = dynamic_cast<const OtherFiltersSetting*>(&wrong_for_video) == nullptr;
      throw UsageError(is_videos ? wrong_for_video.what() : wrong_for_pictures.what());
    }
  }
}

FilterSettings FilterOptions::settings() const {
  FilterSettings settings{.name = name_, .profile = profile_, .parameters = {}};
  for (const ParameterOption& given : parameters_) {
    if (given.integer) {
      settings.parameters[given.name] = *given.integer;
    } else if (given.number) {
      settings.parameters[given.name] = *given.number;
    } else if (given.word) {
      settings.parameters[given.name] = *given.word;
    }
  }
  return settings;
}

Filter FilterOptions::filter(bool frame_by_frame) const {
  return make_filter(settings(), frame_by_frame, "--");
}

FilterSettings FilterOptions::settings(const std::string& name, const std::string& profile) const {
  const FilterType& type = filter_type(name);
  FilterSettings settings = this->settings();
  settings.name = name;
  settings.profile = type.profiles.empty() ? std::nullopt : std::optional(profile);
  std::erase_if(settings.parameters,
                [&](const auto& parameter) { return find_parameter(type, parameter.first) == nullptr; });
  return settings;
}

Filter FilterOptions::filter(const std::string& name, const std::string& profile) const {
  return make_filter(settings(name, profile), false, "--");
}

Filter FilterOptions::live_filter(const std::string& name, const std::string& profile) const {
  return make_filter(live(settings(name, profile), false), false, "--");
}

FilterText::FilterText(const std::string& text)
    : text_(text), command_(std::make_shared<CommandLine>()), options_(std::make_shared<FilterOptions>()) {
  options_->add_to(*command_);
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    arguments.push_back((begin == 0 ? "--filter=" : "--") + part);
    if (begin > 0 && part.find('=') == std::string::npos) {
      throw UsageError(fmt::format("the filter '{}': '{}' is not of the form option=value", text, part));
    }
    begin = end + 1;
  }
  try {
    if (command_->parse(arguments)) {
      throw UsageError("help is no option of a filter");
    }
    static_cast<void>(filter());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("the filter '{}': {}", text, error.what()));
  }
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterType& type : filter_types()) {
    names.push_back(type.name);
  }
  return names;
}

std::vector<FilterText> parse_filters(const std::string& texts) {
  std::vector<FilterText> filters;
  for (std::size_t begin = 0; begin <= texts.size();) {
    const std::size_t end = std::min(texts.find(',', begin), texts.size());
    filters.emplace_back(texts.substr(begin, end - begin));
    begin = end + 1;
  }
  return filters;
}

}  // namespace limpid::app
