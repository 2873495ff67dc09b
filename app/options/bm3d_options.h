#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options/command_line.h"
#include "core/filter/parameters.h"

namespace limpid::app {

/// The options that choose BM3D's profile and change single parameters of it.
class Bm3dOptions {
 public:
  /// Adds the options to `command`, which refers to this object from then on.
  void add_to(CommandLine& command);

  /// The profile that the option names, or the default. Throws UsageError for an unknown one.
  Profile profile() const;

  /// The parameters, of `other_profile` instead of the option's if there is one. Throws UsageError if the
  /// options contradict each other or make illegal parameters.
  Bm3dParameters parameters(std::optional<Profile> other_profile = std::nullopt) const;

  /// --patch-size and --search-window, which other filters have too.
  std::optional<int> patch_size() const { return hard_threshold_.patch_size; }
  std::optional<int> search_window() const { return hard_threshold_.search_window; }

 private:
  struct Step {
    std::optional<int> patch_size, step, group_size, search_window;
    std::optional<float> tau, kaiser_beta;
    std::optional<std::string> transform_2d, transform_1d;
    std::vector<Option*> options;

    void add_to(CommandLine& command, const std::string& suffix);
    void apply(Bm3dStep& parameters) const;
  };

  std::optional<std::string> profile_;
  std::optional<std::string> matching_;
  std::optional<std::string> transform_;
  std::optional<float> lambda_;
  int steps_ = 2;
  Step hard_threshold_;
  Step wiener_;
};

}  // namespace limpid::app
