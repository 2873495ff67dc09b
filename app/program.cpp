// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/console/text.h"

namespace limpid::app {

const char* const kExitCodes = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.";

namespace {

struct Entry {
  const char* group;
  void (*add)(CommandLine& program);
  std::vector<std::string> examples = {};
};

/// The commands in the order of the help.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {"Everyday",
       add_denoise_command,
       {"limpid denoise noisy.mkv -o clean.mkv --strength light --crf 18",
        "limpid denoise holiday/ -o clean/ --quality fast"}},
      {"Everyday", add_preview_command, {"limpid preview noisy.mkv"}},
      {"Everyday", add_webcam_command, {"limpid webcam /dev/video0 --record clean.mkv"}},
      {"Everyday", add_noise_command, {"limpid noise noisy.mkv", "limpid noise camera.mov -o camera.json"}},
      {"Everyday",
       add_compare_command,
       {"limpid compare noisy.mkv --filters bm3d,vbm4d:strength=light --sheet s.png",
        "limpid compare noisy.mkv --truth truth.mkv --filters vbm4d,bm3d"}},
      {"Lists", add_filters_command, {"limpid filters", "limpid filters vbm4d:quality=fast"}},
      {"Lists", add_devices_command},
      {"Several machines", add_plan_command, {"limpid plan film.mkv -o job/ --crf 18"}},
      {"Several machines", add_work_command, {"limpid work job/"}},
      {"Several machines", add_status_command, {"limpid status job/"}},
      {"Several machines", add_merge_command, {"limpid merge job/ -o clean.mkv"}},
      {"Development", add_benchmark_command, {"limpid benchmark in.mp4 -c libx264"}},
      {"Development", add_measure_command, {"limpid measure truth.mkv test.mkv"}},
  };
  return all;
}

}  // namespace

std::unique_ptr<CommandLine> make_program() {
  auto program = std::make_unique<CommandLine>("Limpid removes noise from video.", "limpid");
  program->set_version_flag(version_text());
  for (const auto& [group, add, examples] : entries()) {
    add(*program);
    CommandLine* const command = program->get_subcommands().back();
    command->group(group);
    command->examples(examples);
  }
  return program;
}

}  // namespace limpid::app
