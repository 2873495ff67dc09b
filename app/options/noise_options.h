// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options/command_line.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {

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

  bool is_given() const;

  /// Throws UsageError for illegal values and for options that exclude each other.
  NoiseSettings settings() const;
  /// The strength as it was given, such as "light".
  std::string strength() const;

 private:
  const std::optional<std::string>& text_of(const char* name) const;

  std::vector<std::optional<std::string>> texts_;  // of the fields, whose options refer to them
  NoiseSettings base_;
};

}  // namespace limpid::app
