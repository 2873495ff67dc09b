// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/denoise_job.h"
#include "app/commands/denoise_report.h"
#include "app/commands/denoising_options.h"
#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/commands/resumed_job.h"
#include "app/console/interrupt.h"
#include "app/console/logging.h"
#include "app/console/quantity_text.h"
#include "app/options/engine_options.h"
#include "app/options/logging_options.h"
#include "app/options/purpose.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

struct DenoiseCommandOptions {
  const CommandLine* command = nullptr;
  std::vector<std::string> arguments;  // inputs, and perhaps the output
  std::string output_option;

  DenoisingOptions denoising;
  EngineChoice engine;

  LoggingOptions logging;
  std::string progress = "auto";

  bool overwrite = false;
  bool never_overwrite = false;
  bool strict = false;
  bool resume = false;
  std::int64_t segment_frames = 0;  // 0: not asked for
  bool quiet = false;
  bool stats = false;
  bool json = false;
  std::string csv;
};

void create_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Error(folder + ": cannot create the folder: " + failure.message());
  }
}

// `chosen`: by the program, so that the log gives the reason against other engines.
void log_engine(const Engine& engine, bool chosen) {
  spdlog::info(fmt::format("engine: {}, {}", engine.name(), engine.description()));
  if (!chosen) {
    return;
  }
  for (const EngineInfo& info : engine_registry().list()) {
    if (!info.available) {
      spdlog::debug(fmt::format("engine {} is not available: {}", info.name, info.description));
    }
  }
}

void check(const DenoiseCommandOptions& options) {
  if (options.overwrite && options.never_overwrite) {
    throw UsageError("-y and -n exclude each other");
  }
}

struct JobCounts {
  int done = 0;
  int skipped = 0;  ///< no media
  int existing = 0;
  int failed = 0;
  int partial = 0;

  int all() const { return done + skipped + existing + failed + partial; }
};

/// "3 files denoised, 1 skipped, 0 failed", with the files that an interrupt left.
std::string summary(const JobCounts& counts, std::size_t jobs) {
  std::string text =
      fmt::format("{} file{} denoised, {} skipped, {} failed", counts.done, counts.done == 1 ? "" : "s",
                  counts.skipped + counts.existing, counts.failed);
  if (counts.partial > 0) {
    text += fmt::format(", {} partial", counts.partial);
  }
  if (const int left = static_cast<int>(jobs) - counts.all(); left > 0) {
    text += fmt::format(", {} not started", left);
  }
  return text;
}

JobResult run(const Job& job, const DenoiseCommandOptions& options, const Session& session) {
  if (!options.resume) {
    return run_job(job, session);
  }
  const std::int64_t segment = options.segment_frames > 0 ? options.segment_frames : kSegmentFrames;
  return run_resumed_job(job, options.denoising, segment, session);
}

/// The time that a batch takes, by the sizes of its inputs.
class BatchTime {
 public:
  explicit BatchTime(const Jobs& jobs) {
    for (const Jobs::Input& input : jobs.inputs) {
      left_ += size_of(input);
    }
  }

  /// Counts a file that was denoised, or only passed over.
  void add(const Jobs::Input& input, bool is_denoised) {
    const Clock::time_point now = Clock::now();
    left_ -= size_of(input);
    done_ += is_denoised ? size_of(input) : 0;
    seconds_ += is_denoised ? std::chrono::duration<double>(now - begin_).count() : 0;
    begin_ = now;
  }

  /// "; about 12 min left for all files", or empty if no file has been denoised.
  std::string text() const {
    return done_ > 0 ? fmt::format("; about {} left for all files", duration_text(seconds_ * left_ / done_))
                     : "";
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double size_of(const Jobs::Input& input) {
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(input.file, failure);
    return failure ? 0 : static_cast<double>(size);
  }

  Clock::time_point begin_ = Clock::now();
  double left_ = 0;  // bytes
  double done_ = 0;
  double seconds_ = 0;
};

/// Runs one job after the other; jobs after a failed one still run.
JobCounts denoise_all(Job job, const Jobs& jobs, const DenoiseCommandOptions& options, const Session& session,
                      FilesReport& reports) {
  JobCounts counts;
  BatchTime time(jobs);
  for (const Jobs::Input& input : jobs.inputs) {
    if (session.interrupts.interrupted()) {
      break;
    }
    job.input = input.file;
    spdlog::info(
        fmt::format("{} ({} of {}{})", input.file, counts.all() + 1, jobs.inputs.size(), time.text()));
    JobResult result;
    const std::optional<InputFailure> failure = attempt(input, [&] { result = run(job, options, session); });
    if (failure) {
      reports.add({{"input", input.file},
                   {"status", failure->is_skipped ? "skipped" : "failed"},
                   {failure->is_skipped ? "skipped" : "error", failure->text}});
      ++(failure->is_skipped ? counts.skipped : counts.failed);
    } else if (result.outcome == Outcome::kNothing) {
      break;
    } else {
      reports.add(result.report);
      ++(result.outcome == Outcome::kDone      ? counts.done
         : result.outcome == Outcome::kPartial ? counts.partial
                                               : counts.existing);
    }
    time.add(input, !failure && result.outcome == Outcome::kDone);
  }
  reports.end(jobs.inputs.size(), session.interrupts.interrupted());
  return counts;
}

void set_up_messages(const DenoiseCommandOptions& options, Console& console) {
  LoggingOptions logging = options.logging;
  if (options.quiet && logging.level == LoggingOptions().level) {
    logging.level = "error";
  }
  for (const std::string& argument : options.arguments) {
    io::require_other_file(logging.file, argument);
    io::require_other_file(options.csv, argument);
  }
  set_up_logging(console, logging);
}

/// The settings for all files, without input and output. Throws for wrong options before any file is opened.
Job settle_job(const DenoiseCommandOptions& options) {
  Job job;
  const DenoisingOptions& denoising = options.denoising;
  const SettingsOptions& settings = denoising.settings;
  job.settings = settings.settings();
  job.strength = settings.noise.strength();
  denoising.check();
  job.filter = [&settings](bool frame_by_frame) { return settings.filter.filter(frame_by_frame); };
  job.profile = settings.filter.profile();
  job.reader = denoising.reader_options();
  job.writer = denoising.writer_options();
  job.grain = denoising.grain;
  job.frames = denoising.frames;
  job.existing = options.overwrite         ? Existing::kOverwrite
                 : options.never_overwrite ? Existing::kSkip
                                           : Existing::kAsk;
  job.strict = options.strict;
  if (options.segment_frames > 0 && !options.resume) {
    throw UsageError("--segment-frames needs --resume");
  }
  return job;
}

JobResult denoise_one(const Job& job, const DenoiseCommandOptions& options, const Session& session,
                      FilesReport& reports) {
  try {
    JobResult result = run(job, options, session);
    if (result.outcome != Outcome::kNothing) {
      reports.add(result.report);
    }
    reports.end(1, session.interrupts.interrupted());
    return result;
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Error*>(&error);
    reports.add({{"input", job.input},
                 {"output", job.output},
                 {"status", "failed"},
                 {"error", known != nullptr ? known->what() : job.input + ": " + error.what()}});
    reports.end(1, false);
    throw;
  }
}

int denoise(DenoiseCommandOptions& options, Console& console) {
  check(options);
  options.denoising.settings.read_file();
  std::ranges::transform(options.arguments, options.arguments.begin(), io::local_name);
  options.output_option = io::local_name(options.output_option);
  set_up_messages(options, console);
  const ProgressStyle progress_style =
      options.quiet ? ProgressStyle::kNone : parse_progress_style(options.progress, console.is_terminal());
  Job job = settle_job(options);
  const Jobs jobs = plan_jobs(options.arguments, options.output_option);
  if (jobs.many && job.existing == Existing::kAsk) {
    job.existing = Existing::kSkip;  // a batch can be started again
  }
  if (!jobs.into_folder) {
    require_container_of_purpose(options.denoising.purpose, jobs.output, job.writer);
  }

  const InterruptWatch interrupts;
  const std::shared_ptr<Engine> engine = options.engine.open();
  options.engine.apply_to(job.reader, job.writer, engine);
  log_engine(*engine, options.engine.name == "auto");

  std::optional<OutputNames> names;
  if (jobs.into_folder) {
    create_folder(jobs.output);
    names.emplace(jobs);
  }
  const Session session{.choice = options.engine,
                        .engine = engine,
                        .interrupts = interrupts,
                        .console = console,
                        .progress_style = progress_style,
                        .names = names ? &*names : nullptr,
                        .stats = options.stats,
                        .json = options.json,
                        .warnings = options.command->warnings()};
  FilesReport reports({.json = options.json && jobs.output != "-",
                       .many = jobs.many,
                       .csv = options.csv,
                       .overwrite = options.overwrite});
  bool is_complete = true;
  if (jobs.many) {
    const JobCounts counts = denoise_all(job, jobs, options, session, reports);
    std::string text = summary(counts, jobs.inputs.size());
    if (counts.existing > 0 && !options.never_overwrite) {
      text += fmt::format(" ({} exist; -y overwrites them)", counts.existing);
    }
    const bool nothing = counts.done + counts.existing == 0 && !interrupts.interrupted();
    if (counts.failed > 0 || nothing) {
      throw Error(text);
    }
    spdlog::info(text);
    is_complete = counts.partial == 0 && counts.all() == std::ssize(jobs.inputs);
  } else {
    job.input = jobs.inputs.front().file;
    job.output = jobs.output;
    const JobResult result = denoise_one(job, options, session, reports);
    if (result.outcome == Outcome::kNothing) {
      return kExitInterrupted;
    }
    is_complete = result.outcome != Outcome::kPartial;
  }
  return is_complete ? kExitDone : kExitInterrupted;
}

void add_file_options(CommandLine& command, DenoiseCommandOptions& options) {
  constexpr const char* kGroup = "Input and output";
  command
      .add_option("INPUT", options.arguments,
                  "Video, picture, image sequence (%03d) or - for a pipe. With -o FOLDER: one or more files, "
                  "and folders whose files are all denoised")
      ->required()
      ->file();
  command
      .add_option("-o,--output", options.output_option,
                  "Output file, image sequence, folder, or - for a y4m pipe [INPUT-denoised.EXT]")
      ->details(
          "In a folder, outputs have the names of the inputs. The output can also be given as the second of "
          "two "
          "arguments. Pipes, folders and image sequences have no default.")
      ->type_name("OUTPUT")
      ->file()
      ->group(kGroup);
  command.add_flag("-y,--overwrite", options.overwrite, "Overwrite existing outputs without asking")
      ->group(kGroup);
  command
      .add_flag("-n,--no-overwrite", options.never_overwrite,
                "Skip inputs whose output exists [for several inputs]")
      ->group(kGroup);
  options.denoising.add_range_to(command, kGroup);
  command
      .add_flag(
          "--strict", options.strict,
          "Fail at a damaged packet or frame, a file that ends early, or data beside the pictures that is "
          "not kept, instead of continuing")
      ->advanced()
      ->group(kGroup);
  command
      .add_flag("--resume", options.resume, "Keep finished segments, and resume an interrupted run from them")
      ->details("They are in the folder OUTPUT.limpid-job, which is removed when the output is complete.")
      ->group(kGroup);
  command
      .add_option(
          "--segment-frames", options.segment_frames,
          "Length of the segments of --resume, in frames; segments end at scene cuts if possible [250]")
      ->advanced()
      ->type_name("N")
      ->positive()
      ->group(kGroup);
  options.denoising.add_streams_to(command, kGroup);
}

void add_message_options(CommandLine& command, DenoiseCommandOptions& options) {
  constexpr const char* kGroup = "Messages";
  command.add_flag("-q,--quiet", options.quiet, "Print errors only")->group(kGroup);
  command
      .add_option("--progress", options.progress,
                  "Progress display: auto (on a terminal), plain, json or none [auto]")
      ->details(
          "plain prints a line with the time and the file every 30 seconds or 5 percent, json an object per "
          "second. The display shows frames, rates, and the load in percent of decoding, denoising, encoding "
          "and of a GPU's uploads, filtering and downloads.")
      ->type_name("STYLE")
      ->one_of({"auto", "plain", "json", "none"})
      ->group(kGroup);
  command.add_flag("--json", options.json, "Print a report with the detected noise and all settings as JSON")
      ->details("Reports of several files are in the list files, beside status and totals.")
      ->group(kGroup);
  command
      .add_option("--csv", options.csv,
                  "Write a table with a line per file: output, status, frames, time, size, noise, warnings")
      ->type_name("FILE")
      ->file(".csv")
      ->advanced()
      ->group(kGroup);
  command
      .add_flag("--stats", options.stats,
                "Print the rate, latencies and waiting time of each stage at the end")
      ->advanced()
      ->group(kGroup);
  add_logging_options(command, options.logging, kGroup);
  command.help_group(kGroup);
}

}  // namespace

void add_denoise_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("denoise", "Denoise a video or picture");
  auto options = std::make_shared<DenoiseCommandOptions>();
  options->command = command;
  add_file_options(*command, *options);
  options->denoising.settings.add_to(*command);
  options->engine.add_to(*command);
  options->engine.add_decoding_to(*command);
  options->denoising.add_encoding_to(*command);
  add_message_options(*command, *options);
  command->footer("An interrupted run leaves its output so far in NAME.partial.EXT, which is playable.");
  command->callback([&selected, options] {
    selected = [options](Console& console) { return denoise(*options, console); };
  });
}

}  // namespace limpid::app
