// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"
#include "app/options/field_options.h"
#include "app/options/filter_options.h"
#include "app/options/noise_options.h"

namespace limpid::app {

/// --settings.
class SettingsOption {
 public:
  /// Adds the option to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  bool is_given() const { return !file_.empty(); }
  /// Reads the file, if one is given, and sets the settings for which no other option is given. Throws
  /// UsageError if it is not a settings file.
  void read_into(NoiseOptions& noise, FilterOptions& filter, FieldOptions& fields) const;

 private:
  std::string file_;
};

}  // namespace limpid::app
