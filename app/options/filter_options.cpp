// SPDX-License-Identifier: MIT
#include "app/options/filter_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "core/base/error.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

constexpr const char* kFilterGroup = "Filter and quality";
// "fast, lc, np, high or best".
std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return list;
}

}  // namespace

void FilterOptions::add_to(CommandLine& command) {
  command
      .add_option("--filter", filter_,
                  fmt::format("Filter, with any of its parameters: vbm4d:step=4:tau=900. \"limpid "
                              "filters\" lists them [{}; for pictures {}]",
                              default_filter(false), default_filter(true)))
      ->type_name("FILTER")
      ->words(filter_names())
      ->any_case()
      ->group(kFilterGroup);
  const FilterType& type = filter_type(default_filter(false));
  command
      .add_option("--quality", quality_,
                  "Quality: fast (a quarter of the time of good), good, high (3 times) or best (10 times) [" +
                      quality_name(type.default_profile) + "]")
      ->type_name("NAME")
      ->words(quality_words())
      ->group(kFilterGroup);
  command
      .add_option("--profile", profile_,
                  "Profile of the filter, instead of --quality: " + list_of(type.profiles) + " [" +
                      type.default_profile + "]")
      ->type_name("NAME")
      ->words(type.profiles)
      ->advanced()
      ->group(kFilterGroup);
  command.add_option("--reach", reach_, "Frames used before and after each frame (vbm4d, vnlb) [by quality]")
      ->type_name("N[,M]")
      ->advanced()
      ->group(kFilterGroup);
  command
      .add_option(
          "--delay", delay_,
          "Maximum number of later frames to wait for; 0: live (vbm4d, vnlb) [no limit; 0 in windows]")
      ->type_name("N")
      ->advanced()
      ->group(kFilterGroup);
}

std::map<std::string, ParameterValue> FilterOptions::given_parameters() const {
  std::map<std::string, ParameterValue> given;
  if (reach_) {
    given["reach"] = *reach_;
  }
  if (delay_) {
    given["delay"] = *delay_;
  }
  return given;
}

std::string FilterOptions::name(bool frame_by_frame) const {
  const std::string name = settings().name;
  return name.empty() ? std::string(default_filter(frame_by_frame)) : name;
}

std::string FilterOptions::profile() const {
  const FilterType& type = filter_type(default_filter(false));
  return profile_for(type.profiles, settings().profile.value_or(type.default_profile));
}

void FilterOptions::check() const {
  try {
    static_cast<void>(filter(false));
  } catch (const UsageError& wrong_for_video) {
    if (!settings().name.empty()) {
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
  FilterSettings own;
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
  if (quality_ && profile_) {
    throw UsageError("--quality and --profile exclude each other");
  }
  if ((quality_ || profile_) && own.profile) {
    fail_twice(quality_ ? "quality" : "profile");
  }
  if (quality_ && quality_->find_first_not_of("0123456789.") == std::string::npos) {
    throw UsageError("--quality: '" + *quality_ +
                     "' is not a word such as high; --crf N sets the encoder's quality");
  }
  if (quality_ || profile_) {
    settings.profile =
        quality_ ? parse_quality("--quality", *quality_) : parse_quality("--profile", *profile_);
  }
  for (const auto& [name, value] : given_parameters()) {
    if (own.parameters.contains(name)) {
      fail_twice(name);
    }
    settings.parameters[name] = value;
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
    for (const auto& [name, value] : given_parameters()) {
      if (sentence.find(fmt::format(" {} ", name)) != std::string::npos) {
        throw UsageError(fmt::format("--{}: {}", name, sentence));
      }
    }
    throw;
  }
}

bool FilterOptions::is_given() const {
  const FilterSettings given = settings();
  return !given.name.empty() || given.profile.has_value() || !given.parameters.empty();
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterType& type : filter_types()) {
    names.push_back(type.name);
  }
  return names;
}

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> entries_in(const std::string& texts) {
  std::vector<std::string> entries;
  for (const std::string& part : split(texts, ',')) {
    const bool is_number = !part.empty() && std::isdigit(static_cast<unsigned char>(part.front())) != 0;
    if (is_number && !entries.empty()) {
      entries.back() += "," + part;
    } else {
      entries.push_back(part);
    }
  }
  return entries;
}

FilterEntry parse_entry(const std::string& text, const NoiseSettings& base) {
  NoiseChoice choice{base};
  std::string filter;
  for (const std::string& part : split(text, ':')) {
    const std::size_t equals = part.find('=');
    const NoiseField* const field =
        equals == std::string::npos ? nullptr : find_noise_field(part.substr(0, equals));
    if (field == nullptr) {
      filter += (filter.empty() ? "" : ":") + part;
      continue;
    }
    field->parse(choice, "--filters: " + text + ": " + field->name, part.substr(equals + 1));
  }
  return {text, FilterText(filter), choice.chosen()};
}

}  // namespace

std::vector<FilterEntry> parse_filter_list(const std::string& texts, const NoiseSettings& base) {
  std::vector<FilterEntry> filters;
  for (const std::string& text : entries_in(texts)) {
    filters.push_back(parse_entry(text, base));
  }
  return filters;
}

}  // namespace limpid::app
