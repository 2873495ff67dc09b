// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/commands/command.h"
#include "app/commands/job_options.h"
#include "app/console/interrupt.h"
#include "app/console/json_report.h"
#include "app/jobs/work.h"
#include "app/options/engine_options.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

struct WorkCommandOptions {
  std::string folder;
  std::optional<int> index;
  int of = 0;
  double patience = WorkOptions().patience;
  bool waits = false;
  EngineChoice engine;
  JobMessageOptions messages;
};

int work(const WorkCommandOptions& options, Console& console) {
  options.messages.set_up(console);
  const JobFolder folder(options.folder);
  WorkOptions how;
  how.patience = options.patience;
  how.waits = options.waits;
  if (options.index) {
    how.share = Share{.index = *options.index};
  } else {
    how.share = share_of_array([](const char* name) { return std::getenv(name); });
  }
  if (options.of > 0) {
    if (!how.share) {
      throw UsageError("--of requires the number of this worker: --index N");
    }
    how.share->of = options.of;
  }
  const Plan plan = read_plan(folder);
  if (how.share) {
    static_cast<void>(segments_of(*how.share, static_cast<int>(plan.segments.size())));
  }
  const InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = options.engine.open();
  spdlog::info(fmt::format("engine: {}, {}", engine->name(), engine->description()));
  const WorkReport report = work_on(folder, plan, how, engine, interrupts.stop());
  if (options.messages.json) {
    print_report({{"job", folder.path()},
                  {"engine", engine->name()},
                  {"segments", plan.segments.size()},
                  {"done", report.done},
                  {"frames", report.frames},
                  {"failed", report.failed},
                  {"with_others", report.with_others},
                  {"interrupted", report.stopped}});
  }
  if (!report.failed.empty()) {
    throw Error(fmt::format("{}: {} of {} segments failed on this worker, which finished {} others",
                            folder.path(), report.failed.size(), plan.segments.size(), report.done));
  }
  spdlog::info(fmt::format("segments done here: {}{}", report.done,
                           report.with_others > 0 && !report.stopped
                               ? fmt::format("; with other workers: {}", report.with_others)
                               : ""));
  return report.stopped ? kExitInterrupted : kExitDone;
}

}  // namespace

void add_work_command(CommandLine& program, Command& selected) {
  CommandLine* command =
      program.add_subcommand("work", "Denoise segments of a job; several workers can run at the same time");
  auto options = std::make_shared<WorkCommandOptions>();
  constexpr const char* kGroup = "Job";
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  command
      ->add_option("--index", options->index,
                   "Segment to denoise, from 0; with --of K, also every K-th segment after it [from the "
                   "scheduler; without one, any free segment]")
      ->details(
          "Environment variables of schedulers: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
          "AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX and PBS_ARRAY_INDEX.")
      ->type_name("N")
      ->not_negative()
      ->group(kGroup);
  command->add_option("--of", options->of, "Number of workers that share the job by index")
      ->type_name("K")
      ->positive()
      ->group(kGroup);
  command
      ->add_option("--claim-timeout", options->patience,
                   "Seconds of silence after which another worker's segment is taken over, 0.5-1e6 [120]")
      ->type_name("S")
      ->in_range(0.5, 1e6)
      ->advanced()
      ->group(kGroup);
  command
      ->add_flag("--wait", options->waits,
                 "Wait for the segments of other workers, and take over those of lost workers")
      ->group(kGroup);
  options->engine.add_to(*command);
  options->messages.add_to(*command);
  command->callback(
      [&selected, options] { selected = [options](Console& console) { return work(*options, console); }; });
}

}  // namespace limpid::app
