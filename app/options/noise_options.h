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

/// Options for film grain in the output.
struct GrainOptions {
  std::string grain;    ///< "keep", the file of a table, or empty
  double strength = 1;  ///< factor of the grain's deviation
  double added = 0;     ///< factor of grain that is added to samples; 0: none

  /// Adds --grain, --grain-strength and --add-grain. `command` keeps references to this object.
  void add_to(CommandLine& command, const std::string& group);
  /// Throws UsageError for options that exclude each other or that the encoder does not support.
  void check(const std::string& codec) const;
  /// True for --grain keep: decoders add grain like the noise or film grain of the input.
  bool is_kept() const { return grain == "keep"; }
};

}  // namespace limpid::app
