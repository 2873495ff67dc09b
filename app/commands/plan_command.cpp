// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/denoising_options.h"
#include "app/commands/job_options.h"
#include "app/commands/jobs.h"
#include "app/commands/output_grain.h"
#include "app/console/interrupt.h"
#include "app/console/json_report.h"
#include "app/jobs/planning.h"
#include "app/options/engine_options.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

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
      for (int number = 0; !is_planned && ::unlink(folder_.segment(number).c_str()) == 0; ++number) {
      }
      if (!is_planned) {
        folder_.remove_empty(false);
      }
      ::unlink(lock_in(folder_.path()).c_str());
      if (is_new_) {
        ::rmdir(folder_.path().c_str());  // unless it has files
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
  options.denoising.check();
  const NoiseSettings noise = options.denoising.settings.noise.settings();
  std::vector<std::string> inputs = options.inputs;
  std::ranges::transform(inputs, inputs.begin(), io::local_name);
  if (std::ranges::find(inputs, "-") != inputs.end()) {
    throw UsageError("standard input cannot be read by several workers; give a file");
  }
  const JobFolder folder(options.folder);
  require_free(folder);
  const Jobs jobs = plan_jobs(inputs, options.folder + "/");
  const InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = options.engine.open();
  const PlanningFolder held(folder);
  require_free(folder);
  JobSettings settings = job_settings(options.denoising, *engine);
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
      fmt::format("{}: segments: {}, frames in all: {}", folder.path(), made.segments.size(), frames));
  if (options.messages.json) {
    print_report(
        {{"job", folder.path()}, {"segments", made.segments.size()}, {"frames", frames}, {"inputs", files}});
  }
  return kExitDone;
}

}  // namespace

void add_plan_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("plan", "Plan a job for several machines");
  auto options = std::make_shared<PlanOptions>();
  constexpr const char* kGroup = "Input and output";
  command->add_option("INPUT", options->inputs, "Files to denoise, and folders whose files are all denoised")
      ->required();
  command->add_option("-o,--output", options->folder, "Folder of the job, which all workers can access")
      ->type_name("FOLDER")
      ->required()
      ->group(kGroup);
  command
      ->add_option("--segment-frames", options->segment_frames,
                   "Length of the segments, in frames; segments end at scene cuts if possible [250]")
      ->type_name("N")
      ->positive()
      ->advanced()
      ->group(kGroup);
  options->denoising.add_range_to(*command, kGroup);
  options->denoising.add_streams_to(*command, kGroup);
  options->denoising.settings.add_to(*command);
  options->engine.add_to(*command);
  options->engine.hwaccel = "none";
  command
      ->add_option("--hwaccel", options->engine.hwaccel,
                   "Hardware decoding: none, or cuda (damaged sources are decoded again without it) [none]")
      ->type_name("NAME")
      ->any_case()
      ->one_of({"none", "cuda"})
      ->group("Filter and quality");
  options->denoising.add_encoding_to(*command);
  options->messages.add_to(*command);
  command->footer(
      "Next: limpid work FOLDER denoises the segments, and limpid merge FOLDER -o OUTPUT joins them.");
  command->callback(
      [&selected, options] { selected = [options](Console& console) { return plan(*options, console); }; });
}

}  // namespace limpid::app
