// SPDX-License-Identifier: MIT
#include "app/options/settings_options.h"

#include "core/base/error.h"
#include "core/settings/denoising_settings.h"

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

void SettingsOptions::add_to(CommandLine& command) {
  noise.add_to(command);
  command
      .add_option(
          "--settings", file_,
          "Settings file of the window, with filter, noise, strength and mix; other options override it")
      ->type_name("FILE")
      ->file(".json")
      ->advanced()
      ->group("Noise and strength");
  filter.add_to(command);
}

void SettingsOptions::read_file() {
  if (file_.empty()) {
    return;
  }
  try {
    const DenoisingSettings settings = read_settings(file_);
    noise.set_base(settings.noise);
    filter.set_base(settings.filter);
    fields.set_base(settings.fields);
  } catch (const UsageError& error) {
    throw UsageError(std::string("--settings: ") + error.what());
  }
}

}  // namespace limpid::app
