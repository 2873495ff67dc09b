// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"
#include "core/engine/field_control.h"

namespace limpid::app {

/// --fields.
class FieldOptions {
 public:
  /// Adds the option to `command`, under the heading `group` if it is not empty. The command keeps a
  /// reference to this object.
  void add_to(CommandLine& command, const std::string& group = {});
  /// Throws UsageError.
  FieldChoice choice() const;

 private:
  std::string fields_ = "auto";
};

}  // namespace limpid::app
