// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"
#include "app/options/field_options.h"
#include "app/options/filter_options.h"
#include "app/options/noise_options.h"
#include "core/settings/denoising_settings.h"

namespace limpid::app {

/// The options of DenoisingSettings, and --settings, a file with the settings for which no option is given.
class SettingsOptions {
 public:
  NoiseOptions noise;
  FilterOptions filter;
  FieldOptions fields;  ///< added to the command by the owner, under a heading of its own

  /// Adds the options of noise and filter, and --settings, to `command`, which keeps a reference to this
  /// object.
  void add_to(CommandLine& command);
  /// Reads the settings file, if one is given. Called before the next functions. Throws UsageError if it is
  /// not a settings file.
  void read_file();
  /// True if an option sets the noise or the filter.
  bool is_given() const { return !file_.empty() || noise.is_given() || filter.is_given(); }
  /// Throws UsageError for illegal values and for options that exclude each other.
  DenoisingSettings settings() const { return {filter.settings(), noise.settings(), fields.choice()}; }

 private:
  std::string file_;
};

}  // namespace limpid::app
