// SPDX-License-Identifier: MIT
#include "app/program.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/console/version.h"

namespace limpid::app {

const char* const kExitCodes = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.";

namespace {

struct Examples {
  const char* command;
  std::vector<std::string> lines;
};

const std::vector<Examples>& examples() {
  static const std::vector<Examples> all = {
      {"denoise",
       {"limpid denoise noisy.mkv -o clean.mkv --strength light --crf 18",
        "limpid denoise holiday/ -o clean/ --quality fast"}},
      {"compare",
       {"limpid compare noisy.mkv --filters bm3d,vbm4d:strength=light --sheet s.png",
        "limpid compare noisy.mkv --truth truth.mkv --filters vbm4d,bm3d"}},
      {"noise", {"limpid noise noisy.mkv", "limpid noise camera.mov -o camera.json"}},
      {"filters", {"limpid filters", "limpid filters vbm4d:quality=fast"}},
      {"measure", {"limpid measure truth.mkv test.mkv"}},
      {"benchmark", {"limpid benchmark in.mp4 -c libx264"}},
      {"preview", {"limpid preview noisy.mkv"}},
      {"webcam", {"limpid webcam /dev/video0 --record clean.mkv"}},
      {"plan", {"limpid plan film.mkv -o job/ --crf 18"}},
      {"work", {"limpid work job/"}},
      {"status", {"limpid status job/"}},
      {"merge", {"limpid merge job/ -o clean.mkv"}},
  };
  return all;
}

}  // namespace

std::unique_ptr<CommandLine> make_program(Command& selected) {
  auto program = std::make_unique<CommandLine>("Limpid removes noise from video.", "limpid");
  program->set_version_flag(version_text());
  add_denoise_command(*program, selected);
  add_benchmark_command(*program, selected);
  add_compare_command(*program, selected);
  add_devices_command(*program, selected);
  add_filters_command(*program, selected);
  add_measure_command(*program, selected);
  add_merge_command(*program, selected);
  add_noise_command(*program, selected);
  add_plan_command(*program, selected);
  add_preview_command(*program, selected);
  add_status_command(*program, selected);
  add_webcam_command(*program, selected);
  add_work_command(*program, selected);
  for (CommandLine* const command : program->get_subcommands()) {
    const auto found = std::ranges::find(examples(), command->text().name, &Examples::command);
    if (found != examples().end()) {
      command->examples(found->lines);
    }
  }
  return program;
}

}  // namespace limpid::app
