// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/options/command_line.h"
#include "core/filter/filter.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/filter_settings.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_control.h"

namespace limpid::app {

/// --filter NAME[:PARAMETER=VALUE]..., --quality, --profile and the options for parameters of several
/// filters.
class FilterOptions {
 public:
  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);

  /// Sets the filter if no --filter is given. Other options override its profile and its parameters.
  void set_base(FilterSettings base) { base_ = std::move(base); }

  /// Throws UsageError for an unknown name, options of other filters, options that contradict each other, and
  /// illegal values. `frame_by_frame` chooses the default filter.
  Filter filter(bool frame_by_frame = false) const;
  /// The settings that filter() uses.
  FilterSettings settings() const;
  /// Throws the errors that filter() would throw both for videos and for pictures.
  void check() const;
  /// True if an option chooses a filter, a profile or a parameter.
  bool is_given() const { return is_chosen() || !settings().parameters.empty(); }
  /// True if an option chooses a filter or a profile.
  bool is_chosen() const {
    const FilterSettings given = settings();
    return !given.name.empty() || given.profile.has_value();
  }

  std::string name(bool frame_by_frame) const {
    const std::string name = settings().name;
    return name.empty() ? std::string(default_filter(frame_by_frame)) : name;
  }
  /// The given or default profile, of the default filter for words of --quality.
  std::string profile() const {
    const FilterType& type = filter_type(default_filter(false));
    return profile_for(type.profiles, settings().profile.value_or(type.default_profile));
  }

 private:
  /// The parameters that have an option of their own and are given.
  std::map<std::string, ParameterValue> given_parameters() const;

  std::string filter_;   // the value of --filter
  FilterSettings base_;  // without --filter
  std::optional<std::string> quality_;
  std::optional<std::string> profile_;
  std::optional<std::string> reach_;
  std::optional<int> delay_;
};

/// A filter with its settings in one word: "bm3d:profile=fast" or "bilateral:radius=5:range-sigma=40".
class FilterText {
 public:
  /// Throws UsageError as parse_filter_settings() does.
  explicit FilterText(const std::string& text) : text_(text), settings_(parse_filter_settings(text)) {}

  const std::string& text() const { return text_; }
  Filter filter() const { return make_filter(settings_, false); }

 private:
  std::string text_;
  FilterSettings settings_;
};

/// The names of all filters.
std::vector<std::string> filter_names();

/// A filter with its own noise settings.
struct FilterEntry {
  std::string text;  ///< "vbm4d:strength=strong:reach=4"
  FilterText filter;
  NoiseSettings noise;
};

/// Parses filters separated by commas, each with any of its parameters and of the noise settings strength,
/// sigma, noise, planes and mix. `base`: the settings that an entry does not have. A part that begins with a
/// digit belongs to the entry before it, as in "bm3d:sigma=12,6,6,nlm". Throws UsageError that names the
/// entry.
std::vector<FilterEntry> parse_filter_list(const std::string& texts, const NoiseSettings& base);

/// The options of noise_fields().
class NoiseOptions {
 public:
  NoiseOptions() : texts_(noise_fields().size()) {}

  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  /// Adds --sigma alone.
  void add_sigma_to(CommandLine& command);

  /// Sets the settings for which no option is given.
  void set_base(const NoiseSettings& base) { base_ = base; }

  bool is_given() const {
    return std::ranges::any_of(texts_, [](const auto& text) { return text.has_value(); });
  }

  /// Throws UsageError for illegal values and for options that exclude each other.
  NoiseSettings settings() const;
  /// The strength as it was given, such as "light".
  std::string strength() const {
    return text_of("strength").value_or(base_.strength == Strength() ? "medium" : to_string(base_.strength));
  }

 private:
  const std::optional<std::string>& text_of(const char* name) const {
    return texts_[static_cast<std::size_t>(find_noise_field(name) - noise_fields().data())];
  }

  std::vector<std::optional<std::string>> texts_;  // of the fields, whose options refer to them
  NoiseSettings base_;
};

/// Options for film grain in the output.
struct GrainOptions {
  std::string grain;    ///< "keep", the file of a table, or empty
  double strength = 1;  ///< factor of the grain's deviation
  double added = 0;     ///< factor of grain that is added to samples; 0: none

  /// Adds --grain, --grain-strength and --add-grain. `command` keeps references to this object.
  void add_to(CommandLine& command);
  /// Throws UsageError for options that exclude each other or that the encoder does not support.
  void check(const std::string& codec) const;
  /// True for --grain keep: decoders add grain like the noise or film grain of the input.
  bool is_kept() const { return grain == "keep"; }
};

/// --fields.
class FieldOptions {
 public:
  /// Adds the option to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  /// Sets the choice if the option is not given.
  void set_base(FieldChoice base) { base_ = base; }
  /// Throws UsageError.
  FieldChoice choice() const { return fields_ ? parse_fields("--fields", *fields_) : base_; }

 private:
  std::optional<std::string> fields_;
  FieldChoice base_ = FieldChoice::kAuto;
};

/// The options of DenoisingSettings, and --settings, a file with the settings for which no option is given.
class SettingsOptions {
 public:
  NoiseOptions noise;
  FilterOptions filter;
  FieldOptions fields;  ///< added to the command by the owner, under a heading of its own

  /// Adds the options of noise and filter, and --settings, to `command`, which keeps a reference to this
  /// object.
  void add_to(CommandLine& command);
  /// Reads the settings file, if one is given. Called before the next functions. Throws UsageError if it is
  /// not a settings file.
  void read_file();
  /// True if an option sets the noise or the filter.
  bool is_given() const { return !file_.empty() || noise.is_given() || filter.is_given(); }
  /// Throws UsageError for illegal values and for options that exclude each other.
  DenoisingSettings settings() const { return {filter.settings(), noise.settings(), fields.choice()}; }

 private:
  std::string file_;
};

}  // namespace limpid::app
