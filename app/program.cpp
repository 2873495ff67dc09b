// SPDX-License-Identifier: MIT
#include "app/program.h"

#include "app/console/version.h"

namespace limpid::app {

const char* const kExitCodes =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. An interrupted run leaves its output so "
    "far in "
    "NAME.partial.EXT, which is playable.";

std::unique_ptr<CommandLine> make_program(Command& selected) {
  auto program = std::make_unique<CommandLine>("Limpid removes noise from video.", "limpid");
  program->set_version_flag("-V,--version", version_text());
  add_denoise_command(*program, selected);
  add_benchmark_command(*program, selected);
  add_compare_command(*program, selected);
  add_devices_command(*program, selected);
  add_filters_command(*program, selected);
  add_matches_command(*program, selected);
  add_measure_command(*program, selected);
  add_merge_command(*program, selected);
  add_noise_command(*program, selected);
  add_plan_command(*program, selected);
  add_preview_command(*program, selected);
  add_status_command(*program, selected);
  add_webcam_command(*program, selected);
  add_work_command(*program, selected);
  return program;
}

}  // namespace limpid::app
