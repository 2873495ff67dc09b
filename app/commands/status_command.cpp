// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/commands/command.h"
#include "app/commands/job_options.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/quantity_text.h"
#include "app/jobs/status.h"
#include "app/jobs/work.h"

namespace limpid::app {
namespace {

struct StatusOptions {
  std::string folder;
  double patience = WorkOptions().patience;
  JobMessageOptions messages;
};

nlohmann::ordered_json report_of(const JobStatus& status, const std::string& folder) {
  nlohmann::ordered_json failed = nlohmann::ordered_json::array();
  for (const JobStatus::Failure& failure : status.failed) {
    failed.push_back({{"segment", failure.segment}, {"error", failure.sentence}});
  }
  return {{"job", folder},
          {"segments", status.segments},
          {"done", status.done},
          {"running", status.running},
          {"failed", failed},
          {"frames", status.frames},
          {"frames_done", status.frames_done},
          {"fps", status.fps},
          {"fps_of_a_worker", status.worker_fps},
          {"seconds_left",
           status.seconds_left ? nlohmann::ordered_json(*status.seconds_left) : nlohmann::ordered_json()}};
}

// The current rate, or the last one if no worker is active.
std::string rate_text(const JobStatus& status) {
  if (status.seconds_left) {
    return fmt::format(", {:.2f} frames per second, {} remaining", status.fps,
                       time_text(*status.seconds_left, false));
  }
  return status.worker_fps > 0 ? fmt::format(", {:.2f} frames per second per worker", status.worker_fps) : "";
}

int show_status(const StatusOptions& options, Console& console) {
  options.messages.set_up(console);
  const JobFolder folder(options.folder);
  const JobStatus status = status_of(folder, read_plan(folder), options.patience);
  if (options.messages.json) {
    print_report(report_of(status, folder.path()));
    return kExitDone;
  }
  std::cout << fmt::format("segments: {} of {} done, {} running, {} failed\n", status.done, status.segments,
                           status.running.size(), status.failed.size())
            << fmt::format("frames: {} of {}{}\n", status.frames_done, status.frames, rate_text(status));
  for (const JobStatus::Failure& failure : status.failed) {
    std::cout << fmt::format("segment {}: {}\n", failure.segment, printable(failure.sentence));
  }
  return kExitDone;
}

}  // namespace

void add_status_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("status", "Show the progress of a job");
  auto options = std::make_shared<StatusOptions>();
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  command
      ->add_option("--claim-timeout", options->patience,
                   "Seconds of silence after which a worker counts as lost, 0.5-1e6 [120]")
      ->type_name("S")
      ->in_range(0.5, 1e6)
      ->advanced();
  options->messages.add_to(*command);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return show_status(*options, console); };
  });
}

}  // namespace limpid::app
