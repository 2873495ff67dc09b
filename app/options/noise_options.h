// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "app/options/command_line.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// --noise, --sigma, --strength and --planes.
class NoiseOptions {
 public:
  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  /// Adds --sigma alone.
  void add_sigma_to(CommandLine& command);

  /// Throws UsageError for illegal values and for options that exclude each other.
  NoiseSettings settings() const;
  /// The value of --strength as given.
  const std::string& strength() const { return strength_; }

 private:
  std::optional<std::string> noise_;
  std::optional<std::string> sigma_;
  std::string strength_ = "medium";
  std::string planes_ = "all";
};

}  // namespace limpid::app
