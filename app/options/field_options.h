// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
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
  /// Sets the choice if the option is not given.
  void set_base(FieldChoice base) { base_ = base; }
  /// Throws UsageError.
  FieldChoice choice() const;

 private:
  std::optional<std::string> fields_;
  FieldChoice base_ = FieldChoice::kAuto;
};

}  // namespace limpid::app
