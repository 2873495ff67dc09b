// SPDX-License-Identifier: MIT
#include "app/options/settings_options.h"

#include "core/base/error.h"

namespace limpid::app {

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
