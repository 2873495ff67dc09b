#include "app/options/field_options.h"

#include "core/settings/field_settings.h"

namespace limpid::app {

void FieldOptions::add_to(CommandLine& command, const std::string& group) {
  Option* const option = command.add_option(
      "--fields", fields_,
      "Frames to filter by field: auto (those flagged as interlaced, and those combed in many places, as in "
      "telecined film), progressive (none) or interlaced (all) [auto]");
  option->type_name("NAME")->any_case()->one_of({"auto", "progressive", "interlaced"});
  if (!group.empty()) {
    option->group(group);
  }
}

FieldChoice FieldOptions::choice() const { return parse_fields("--fields", fields_); }

}  // namespace limpid::app
