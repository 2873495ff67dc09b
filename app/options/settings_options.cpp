// SPDX-License-Identifier: MIT
#include "app/options/settings_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "core/base/error.h"
#include "io/media/film_grain.h"

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
  command.begin_group(kFilterGroup);
  command
      .add_option("--filter", filter_,
                  fmt::format("Filter, with any of its parameters: vbm4d:step=4:tau=900. \"limpid filters\" "
                              "lists them [{}; for single pictures {}]",
                              default_filter(false), default_filter(true)))
      ->type_name("FILTER")
      ->words(filter_names())
      ->any_case();
  const FilterType& type = filter_type(default_filter(false));
  command
      .add_option(
          "--quality", quality_,
          "Quality: fast (less than half the time of good), good, high (3 times) or best (6 times) [" +
              quality_name(type.default_profile) + "]")
      ->type_name("NAME")
      ->words(quality_words());
  command
      .add_option("--profile", profile_,
                  "Profile of the filter, instead of --quality: " + list_of(type.profiles) + " [" +
                      type.default_profile + "]")
      ->type_name("NAME")
      ->words(type.profiles)
      ->advanced();
  command.add_option("--reach", reach_, "Frames used before and after each frame (vbm4d, vnlb) [by quality]")
      ->type_name("N[,M]")
      ->advanced();
  command
      .add_option(
          "--delay", delay_,
          "Maximum number of later frames to wait for; 0: live (vbm4d, vnlb) [no limit; 0 in windows]")
      ->type_name("N")
      ->advanced();
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

void NoiseOptions::add_to(CommandLine& command) {
  command.begin_group("Noise and strength");
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const NoiseField& field = noise_fields()[i];
    Option* const option = command.add_option("--" + field.name, texts_[i], field.help)
                               ->type_name(field.value)
                               ->details(field.details)
                               ->words(field.words);
    if (!field.ending.empty()) {
      option->file(field.ending);
    }
    if (field.any_case) {
      option->any_case();
    }
    if (field.advanced) {
      option->advanced();
    }
  }
}

void NoiseOptions::add_sigma_to(CommandLine& command) {
  const NoiseField& field = *find_noise_field("sigma");
  command
      .add_option("--sigma", texts_[static_cast<std::size_t>(&field - noise_fields().data())],
                  "Noise level, as for \"limpid denoise\" [auto]")
      ->type_name(field.value)
      ->words(field.words);
}

NoiseSettings NoiseOptions::settings() const {
  if (text_of("noise") && text_of("sigma")) {
    throw UsageError("--noise and --sigma exclude each other");
  }
  NoiseChoice choice{base_};
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (texts_[i]) {
      noise_fields()[i].parse(choice, "--" + noise_fields()[i].name, *texts_[i]);
    }
  }
  return choice.chosen();
}

void GrainOptions::add_to(CommandLine& command) {
  constexpr double kMost = 10;
  command
      .add_option(
          "--grain", grain,
          "Film grain that AV1 decoders add: keep (grain like the noise of the input), or a table [none]")
      ->details(
          "With -c libaom-av1. keep reads the input once more before denoising, and estimates the noise of "
          "each scene. Grain that an AV1 input has already is passed on. A table is a file in the format "
          "filmgrn1, as \"limpid noise -o FILE.tbl\" writes it. Its times count from the beginning of the "
          "input.")
      ->type_name("keep|FILE")
      ->words({"keep"})
      ->file(".tbl")
      ->advanced();
  command.add_option("--grain-strength", strength, "Factor of the strength of --grain, 0.1-10 [1]")
      ->type_name("X")
      ->in_range(0.1, kMost)
      ->advanced();
  command
      .add_option("--add-grain", added,
                  "Add synthetic grain like the noise of the input, times X, to the frames, 0-10 [0]")
      ->details(
          "For codecs without film grain. The grain is the one that --grain keep describes. It depends only "
          "on the input and the number of the frame.")
      ->type_name("X")
      ->in_range(0.0, kMost)
      ->advanced();
}

void GrainOptions::check(const std::string& codec) const {
  if (!grain.empty() && added > 0) {
    throw UsageError("--grain and --add-grain exclude each other");
  }
  if (grain.empty() && strength != 1) {
    throw UsageError("--grain-strength needs --grain");
  }
  if (!grain.empty()) {
    io::require_film_grain_encoder(codec);
  }
}

void FieldOptions::add_to(CommandLine& command) {
  Option* const option = command.add_option(
      "--fields", fields_,
      "Frames to filter by field: auto (combed ones), progressive (none) or interlaced (all) [auto]");
  option->details(
      "auto selects frames that show combing in many places, as telecined film and interlaced video in "
      "motion.");
  option->type_name("NAME")->any_case()->one_of({"auto", "progressive", "interlaced"});
}

void SettingsOptions::add_to(CommandLine& command) {
  noise.add_to(command);
  command.begin_group("Noise and strength");
  command
      .add_option(
          "--settings", file_,
          "Settings file of the window, with filter, noise, strength and mix; other options override it")
      ->type_name("FILE")
      ->file(".json")
      ->advanced();
  filter.add_to(command);
}

void SettingsOptions::read_file() {
  if (file_.empty()) {
    return;
  }
  try {
    const DenoisingSettings settings = read_settings(file_);
    noise.set_base(settings.noise);
    filter.set_base(settings.filter);
    fields.set_base(settings.fields);
  } catch (const UsageError& error) {
    throw UsageError(std::string("--settings: ") + error.what());
  }
}

}  // namespace limpid::app
