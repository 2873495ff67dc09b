// SPDX-License-Identifier: MIT
#include "app/options/field_options.h"

#include "core/settings/field_settings.h"

namespace limpid::app {

void FieldOptions::add_to(CommandLine& command, const std::string& group) {
  Option* const option = command.add_option("--fields", fields_,
                                            "Frames to filter by field: auto (combed ones), "
                                            "progressive (none) or interlaced (all) [auto]");
  option->details(
      "auto selects frames that show combing in many places, as telecined film and interlaced video in "
      "motion.");
  option->type_name("NAME")->any_case()->one_of({"auto", "progressive", "interlaced"});
  if (!group.empty()) {
    option->group(group);
  }
}

FieldChoice FieldOptions::choice() const { return fields_ ? parse_fields("--fields", *fields_) : base_; }

}  // namespace limpid::app
