// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"
#include "app/commands/jobs.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/console/text.h"
#include "app/jobs/plan.h"
#include "app/jobs/work.h"
#include "app/options/engine_options.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/system/posix.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

// The commands of jobs for several machines: plan, work, status and merge.

namespace limpid::app {
namespace {

struct PlanOptions {
  std::vector<std::string> inputs;
  std::string folder;
  std::int64_t segment_frames = kSegmentFrames;
  DenoisingOptions denoising;
  EngineChoice engine;
  JobMessageOptions messages;
};

/// Sets the grain of the output and of the frames.
void set_planned_grain(const GrainOptions& grain, const std::vector<Jobs::Input>& inputs,
                       const NoiseSettings& noise, const InterruptWatch& interrupts, Engine& engine,
                       JobSettings& settings) {
  if (grain.grain.empty() && grain.added == 0) {
    return;
  }
  if (inputs.size() > 1) {
    throw UsageError("--grain and --add-grain: a plan with grain has one input");
  }
  FilmGrainRequest request{.input = inputs.front().file,
                           .reader = settings.reader,
                           .noise = noise,
                           .fields = settings.fields,
                           .frames = settings.frames};
  request.reader.interrupted = [stop = interrupts.stop()] { return stop.stop_requested(); };
  settings.writer.film_grain = table_for_output(grain, request, engine);
  settings.added_grain = table_to_add(grain, request, engine);
}

/// The folder of a job, in which no other process makes a plan meanwhile. Without a plan, its segments are
/// removed at the end, and a new folder that is empty then.
class PlanningFolder : NotCopyable {
 public:
  explicit PlanningFolder(const JobFolder& folder) : folder_(folder), is_new_(!file_exists(folder.path())) {
    constexpr int kAttempts = 100;  // another process may remove the folder between the two steps
    for (int attempt = 0; attempt < kAttempts && !lock_; ++attempt) {
      try {
        folder.create();
      } catch (const Error&) {
        folder.remove_empty(is_new_);
        throw;
      }
      lock_ = folder.lock();
    }
    if (!lock_) {
      throw Error(folder.path() + ": other processes keep making and removing this folder");
    }
  }
  ~PlanningFolder() {
    try {
      const bool is_planned = file_exists(folder_.plan());
      for (int number = 0; !is_planned && posix::unlink(folder_.segment(number).c_str()) == 0; ++number) {
      }
      if (!is_planned) {
        folder_.remove_empty(false);
      }
      posix::unlink(lock_in(folder_.path()).c_str());
      lock_.reset();
      if (is_new_) {
        posix::rmdir(folder_.path().c_str());  // unless it has files
      }
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): files without a plan are left behind
    }
  }

 private:
  const JobFolder& folder_;
  bool is_new_;
  std::optional<FileDescriptor> lock_;
};

void require_free(const JobFolder& folder) {
  if (file_exists(folder.plan())) {
    throw Error(folder.path() + ": contains a plan already; use another folder, or delete this one");
  }
  if (file_exists(folder.path() + "/done") && !folder.numbers_in("done").empty()) {
    throw Error(folder.path() + ": contains results of another job; use another folder, or delete this one");
  }
}

int plan(PlanOptions& options, Console& console) {
  options.messages.set_up(console);
  options.denoising.settings.read_file();
  options.denoising.check(true);
  const NoiseSettings noise = options.denoising.settings.noise.settings();
  std::vector<std::string> inputs = options.inputs;
  std::ranges::transform(inputs, inputs.begin(), io::local_name);
  if (std::ranges::find(inputs, "-") != inputs.end()) {
    throw UsageError("standard input cannot be read by several workers; give a file");
  }
  const JobFolder folder(options.folder);
  require_free(folder);
  const Jobs jobs = plan_jobs(inputs, options.folder + "/");
  if (!jobs.advice.empty()) {
    spdlog::warn("each picture is denoised alone" + jobs.advice);
  }
  const InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = options.engine.open();
  const PlanningFolder held(folder);
  require_free(folder);
  JobSettings settings = job_settings(options.denoising, *engine);
  settle_encoding(settings.writer, "", false);  // merge names the output
  set_planned_grain(options.denoising.grain, jobs.inputs, noise, interrupts, *engine, settings);
  settings.reader.memory = options.engine.decoding_memory(*engine);

  std::vector<std::string> names;
  std::ranges::transform(jobs.inputs, std::back_inserter(names), &Jobs::Input::file);
  PlanningHooks hooks;
  hooks.progress = frame_counter(console, options.messages, interrupts, "planning");
  hooks.leaves_out = [&](const std::string& name, const std::exception& failure) {
    const auto input = std::ranges::find(jobs.inputs, name, &Jobs::Input::file);
    const bool is_other = is_skipped(*input, failure);
    if (is_other) {
      spdlog::info(fmt::format("skipped: {}", failure.what()));
    }
    return is_other;
  };
  const bool whole = plan_job(folder, names, settings, noise, engine, options.segment_frames, hooks);
  console.set_status("");
  if (!whole) {
    return kExitInterrupted;
  }
  const Plan made = read_plan(folder);
  std::int64_t frames = 0;
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const PlannedInput& input : made.inputs) {
    frames += input.frames;
    files.push_back({{"input", input.path}, {"frames", input.frames}, {"joined", input.joined}});
  }
  spdlog::info(
      fmt::format("{}: segments: {}, for as many workers at most (a smaller --segment-frames makes more); "
                  "frames in all: {}",
                  folder.path(), made.segments.size(), frames));
  if (options.messages.json) {
    print_report(
        {{"job", folder.path()}, {"segments", made.segments.size()}, {"frames", frames}, {"inputs", files}});
  }
  return kExitDone;
}

}  // namespace

void add_plan_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand("plan", "Plan a job for several machines");
  auto options = std::make_shared<PlanOptions>();
  constexpr const char* kGroup = "Input and output";
  command->add_option("INPUT", options->inputs, "Files or folders to denoise, with one path on all machines")
      ->required();
  command->begin_group(kGroup);
  command->add_option("-o,--output", options->folder, "Folder of the job, which all workers can access")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option("--segment-frames", options->segment_frames,
                   "Length of the segments, in frames; segments end at scene cuts if possible [250]")
      ->type_name("N")
      ->positive();
  options->denoising.add_range_to(*command);
  options->denoising.add_streams_to(*command);
  options->denoising.settings.add_to(*command);
  options->engine.add_to(*command);
  options->engine.hwaccel = "none";
  command->begin_group("Filter and quality");
  command
      ->add_option("--hwaccel", options->engine.hwaccel,
                   "Hardware decoding: none, or cuda (damaged sources are decoded again without it) [none]")
      ->type_name("NAME")
      ->any_case()
      ->one_of({"none", "cuda"});
  options->denoising.add_encoding_to(*command);
  options->messages.add_to(*command);
  command->footer(
      "Next: limpid work FOLDER denoises the segments, and limpid merge FOLDER -o OUTPUT joins them.");
  command->callback([options](Console& console) { return plan(*options, console); });
}

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
  std::set<int> begun = folder.numbers_in("done");
  begun.merge(folder.numbers_in("claims"));
  const std::size_t free = plan.segments.size() - begun.size();
  spdlog::info(fmt::format("segments done here: {}{}{}", report.done,
                           report.with_others > 0 && !report.stopped
                               ? fmt::format("; with other workers: {}", report.with_others)
                               : "",
                           free > 0 ? fmt::format("; not begun: {}", free) : ""));
  return report.stopped ? kExitInterrupted : kExitDone;
}

}  // namespace

void add_work_command(CommandLine& program) {
  CommandLine* command =
      program.add_subcommand("work", "Denoise segments of a job; several workers can run at the same time");
  auto options = std::make_shared<WorkCommandOptions>();
  constexpr const char* kGroup = "Job";
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  command->begin_group(kGroup);
  command
      ->add_option("--index", options->index,
                   "Index of a segment, from 0; with --of K, also every K-th segment after it [from the "
                   "scheduler; without one, any free segment]")
      ->details(
          "Environment variables of schedulers: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
          "AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX and PBS_ARRAY_INDEX.")
      ->type_name("N")
      ->not_negative();
  command->add_option("--of", options->of, "Number of workers that share the job by index")
      ->type_name("K")
      ->positive();
  command
      ->add_option("--claim-timeout", options->patience,
                   "Seconds of silence after which another worker's segment is taken over, 0.5-1e6 [120]")
      ->type_name("S")
      ->in_range(0.5, 1e6)
      ->advanced();
  command->add_flag("--wait", options->waits,
                    "Wait for the segments of other workers, and take over those of lost workers");
  options->engine.add_to(*command);
  options->messages.add_to(*command);
  command->callback([options](Console& console) { return work(*options, console); });
}

namespace {

struct StatusOptions {
  std::string folder;
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
  const JobStatus status = status_of(folder, read_plan(folder), WorkOptions().patience);
  if (options.messages.json) {
    print_report(report_of(status, folder.path()));
    return kExitDone;
  }
  std::cout << fmt::format("segments: {} of {} done, {} running, {} failed\n", status.done, status.segments,
                           status.running.size(), status.failed.size())
            << fmt::format("frames: {} of {}{}\n", status.frames_done, status.frames, rate_text(status));
  for (const JobStatus::Failure& failure : status.failed) {
    std::cout << fmt::format("segment {}: {}\n", failure.segment + 1, printable(failure.sentence));
  }
  return kExitDone;
}

}  // namespace

void add_status_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand("status", "Show the progress of a job");
  auto options = std::make_shared<StatusOptions>();
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  options->messages.add_to(*command);
  command->callback([options](Console& console) { return show_status(*options, console); });
}

namespace {

struct MergeOptions {
  std::string folder;
  std::string output;
  bool overwrite = false;
  JobMessageOptions messages;
};

/// `files`: null unless a report is requested.
void report_on(const MergedFile& merged, const std::string& input, const std::string& output,
               nlohmann::ordered_json* files) {
  spdlog::info(fmt::format("{}: {} frames, {}, {}", output, merged.frames,
                           merged.joined ? "joined without reencoding" : "encoded", size_text(merged.bytes)));
  if (files != nullptr) {
    files->push_back({{"input", input},
                      {"output", output},
                      {"frames", merged.frames},
                      {"samples", to_hex(merged.hash)},
                      {"joined", merged.joined},
                      {"engines", merged.engines},
                      {"bytes", merged.bytes},
                      {"dropped_streams", io::streams_left_out(merged.diagnostics)}});
  }
}

int merge(const MergeOptions& options, Console& console) {
  options.messages.set_up(console);
  const JobFolder folder(options.folder);
  const Plan plan = read_plan(folder);
  if (const std::string missing = missing_segments(folder, plan); !missing.empty()) {
    throw Error(fmt::format("{}: {}; limpid work {} does them", folder.path(), missing, folder.path()));
  }
  const InterruptWatch interrupts;
  Jobs jobs;
  jobs.output = io::local_name(options.output);
  for (const PlannedInput& input : plan.inputs) {
    jobs.inputs.push_back({input.path, false});
  }
  std::error_code failure;
  jobs.into_folder = plan.inputs.size() > 1 || jobs.output.ends_with('/') ||
                     std::filesystem::is_directory(jobs.output, failure);
  if (jobs.into_folder) {
    require_folder(jobs.output);
    create_folder(jobs.output);
  }
  OutputNames names(jobs);
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  bool lacks_report = false;
  for (int input = 0; input < std::ssize(plan.inputs); ++input) {
    const PlannedInput& planned = plan.inputs[static_cast<std::size_t>(input)];
    io::WriterOptions naming = plan.settings.writer;
    const std::string output =
        jobs.into_folder ? names.name_for(planned.path, planned.still_picture, naming) : jobs.output;
    const MergedFile merged = merge_input(folder, plan, input, output,
                                          options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever,
                                          frame_counter(console, options.messages, interrupts, output));
    console.set_status("");
    if (merged.frames == 0) {  // interrupted
      return kExitInterrupted;
    }
    try {
      report_on(merged, planned.path, output, options.messages.json ? &files : nullptr);
    } catch (const std::bad_alloc&) {
      warn_of_missing_report(output);
      lacks_report = true;
    }
  }
  if (options.messages.json && lacks_report) {
    return kExitFailed;
  }
  if (options.messages.json) {
    print_report({{"job", folder.path()}, {"segments", plan.segments.size()}, {"files", files}});
  }
  return kExitDone;
}

}  // namespace

void add_merge_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand("merge", "Join the finished segments of a job into files");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("JOB", options->folder, "Folder of the job")->required();
  constexpr const char* kGroup = "Output";
  command->begin_group(kGroup);
  command
      ->add_option(
          "-o,--output", options->output,
          "Output file; if the job has several inputs, a folder, where outputs have the names of the inputs")
      ->type_name("OUTPUT")
      ->required();
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite existing outputs");
  options->messages.add_to(*command);
  command->callback([options](Console& console) { return merge(*options, console); });
}

}  // namespace limpid::app
