#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/bm3d_options.h"
#include "app/options/command_line.h"
#include "core/filter/parameters.h"

namespace limpid::app {

/// --filter and the options of every filter.
class FilterOptions {
 public:
  /// Adds the options to `command`, which refers to this object from then on.
  void add_to(CommandLine& command);

  /// Throws UsageError for an unknown name, options that don't belong to the filter or contradict each other,
  /// and illegal values.
  Filter filter() const;
  /// That of another name and, for BM3D, profile, with those of the options that belong to it.
  Filter filter(const std::string& name, Profile profile) const;

  const std::string& name() const { return name_; }
  Profile profile() const { return bm3d_.profile(); }

 private:
  struct Owned {
    const Option* option = nullptr;
    std::vector<std::string_view> filters;  // that have the option
  };

  std::string name_ = std::string(kFilterNames.front());
  Bm3dOptions bm3d_;
  std::optional<int> radius_;
  std::optional<float> spatial_sigma_, range_sigma_, patch_sigma_, kappa_, epsilon_, h_;
  std::vector<Owned> options_;
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

/// Filters separated by commas.
std::vector<FilterText> parse_filters(const std::string& texts);

}  // namespace limpid::app
