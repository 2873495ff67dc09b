// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"

namespace limpid::app {

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
