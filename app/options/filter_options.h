// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/options/command_line.h"
#include "core/engine/noise_control.h"
#include "core/filter/filter.h"
#include "core/settings/filter_settings.h"

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
  bool is_given() const;

  std::string name(bool frame_by_frame) const;
  /// The given or default profile, of the default filter for words of --quality.
  std::string profile() const;

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

}  // namespace limpid::app
