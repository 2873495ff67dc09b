#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/command_line.h"
#include "core/filter/filter.h"
#include "core/settings/filter_settings.h"

namespace limpid::app {

/// --filter, --profile and an option for each parameter that a filter has, as the filters describe them
/// (core/filter/filter.h).
class FilterOptions {
 public:
  /// Of all filters, or of `only` one, which then needs no --filter.
  explicit FilterOptions(std::string_view only = {});

  /// Adds the options to `command`, which refers to this object from then on.
  void add_to(CommandLine& command);

  /// Throws UsageError for an unknown name, options that don't belong to the filter or contradict each other,
  /// and illegal values. `frame_by_frame` decides if no name is given.
  Filter filter(bool frame_by_frame = false) const;
  /// What was asked for, which filter() makes the filter of.
  FilterSettings settings() const;
  /// Throws what filter() would throw either way.
  void check() const;
  /// That of another name and, if it has profiles, profile, with those of the options that belong to it.
  Filter filter(const std::string& name, const std::string& profile) const;
  /// The same for those who watch live (core/settings/filter_settings.h).
  Filter live_filter(const std::string& name, const std::string& profile) const;

  std::string name(bool frame_by_frame) const {
    return name_.empty() ? std::string(default_filter(frame_by_frame)) : name_;
  }
  /// The one that is asked for, or the default; empty if no filter has profiles.
  std::string profile() const;

 private:
  FilterSettings settings(const std::string& name, const std::string& profile) const;

  // An option, which several filters may have.
  struct ParameterOption {
    std::string name;
    std::vector<const FilterType*> filters;
    const Option* option = nullptr;
    std::optional<int> integer = {};
    std::optional<float> number = {};
    std::optional<std::string> word = {};
  };

  void add_parameters(CommandLine& command);
  std::string help_of(const ParameterOption& option) const;

  std::vector<const FilterType*> types_;
  std::string name_;  // empty: that of default_filter()
  std::optional<std::string> profile_;
  const Option* profile_option_ = nullptr;
  std::deque<ParameterOption> parameters_;  // command lines refer to them
};

/// A filter in one word, as lists of filters take it: its name and any of its options without their dashes,
/// "bm3d:profile=fast" or "bilateral:radius=5:range-sigma=40".
class FilterText {
 public:
  /// Throws UsageError if `text` is not of that form or has unknown options.
  explicit FilterText(const std::string& text);

  const std::string& text() const { return text_; }
  /// As FilterOptions::filter().
  Filter filter() const { return options_->filter(); }

 private:
  std::string text_;
  std::shared_ptr<CommandLine> command_;  // that the options refer to
  std::shared_ptr<FilterOptions> options_;
};

/// What --filter takes.
std::vector<std::string> filter_names();

/// Filters separated by commas.
std::vector<FilterText> parse_filters(const std::string& texts);

}  // namespace limpid::app
