#pragma once

#include <optional>
#include <string>

#include "app/options/command_line.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// --noise, --sigma, --strength and --planes.
class NoiseOptions {
 public:
  /// Adds the options to `command`, which refers to this object from then on.
  void add_to(CommandLine& command);
  /// --sigma alone.
  void add_sigma_to(CommandLine& command);

  /// Throws UsageError for values that are none, and options that exclude each other.
  NoiseSettings settings() const;
  /// The name that was given.
  const std::string& strength() const { return strength_; }

 private:
  std::optional<std::string> noise_;
  std::optional<std::string> sigma_;
  std::string strength_ = "medium";
  std::string planes_ = "all";
};

}  // namespace limpid::app
