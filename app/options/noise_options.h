// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "app/options/command_line.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// --noise, --sigma, --strength, --planes and --mix.
class NoiseOptions {
 public:
  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  /// Adds --sigma alone.
  void add_sigma_to(CommandLine& command);

  /// Sets the settings for which no option is given.
  void set_base(const NoiseSettings& base) { base_ = base; }

  bool is_given() const { return noise_ || sigma_ || strength_ || planes_ || mix_; }

  /// Throws UsageError for illegal values and for options that exclude each other.
  NoiseSettings settings() const;
  /// The strength as it was given, such as "light".
  std::string strength() const;

 private:
  std::optional<std::string> noise_;
  std::optional<std::string> sigma_;
  std::optional<std::string> strength_;
  std::optional<std::string> planes_;
  std::optional<float> mix_;
  NoiseSettings base_;
};

}  // namespace limpid::app
