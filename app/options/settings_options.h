// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "app/options/command_line.h"
#include "app/options/filter_options.h"
#include "app/options/noise_options.h"
#include "core/engine/field_control.h"
#include "core/settings/denoising_settings.h"

namespace limpid::app {

/// --fields.
class FieldOptions {
 public:
  /// Adds the option to `command`, under the heading `group` if it is not empty. The command keeps a
  /// reference to this object.
  void add_to(CommandLine& command, const std::string& group = {});
  /// Sets the choice if the option is not given.
  void set_base(FieldChoice base) { base_ = base; }
  /// Throws UsageError.
  FieldChoice choice() const;

 private:
  std::optional<std::string> fields_;
  FieldChoice base_ = FieldChoice::kAuto;
};

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
