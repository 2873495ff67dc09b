// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"
#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/console/text.h"
#include "app/jobs/job_folder.h"
#include "app/jobs/plan.h"
#include "app/jobs/work.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

void check_resumable(const Job& job) {
  if (job.strict) {
    throw UsageError("--resume and --strict exclude each other");
  }
  if (job.input == "-" || job.output == "-") {
    throw UsageError("--resume needs files: a pipe cannot be read again");
  }
  if (!job.output.empty() && io::is_written_straight(job.output)) {
    throw UsageError("--resume: " + job.output + " is a device or an address; name a file");
  }
  require_bounded_reach(job.filter(false), "--resume");
}

/// The input's name in a plan.
std::string planned_name(const std::string& input) {
  std::error_code ignored;
  return fs::is_regular_file(input, ignored) ? fs::absolute(input).string() : input;
}

/// False if an interrupt came first; nothing is left then.
bool plan_it(ResumableFolder& folder, const Job& job, const JobSettings& settings,
             std::int64_t segment_frames, const Session& session) {
  PlanningHooks hooks;
  hooks.progress = [&](std::int64_t, std::int64_t) { return !session.interrupts.interrupted(); };
  hooks.leaves_out = [](const std::string&, const std::exception&) { return false; };
  folder.clear();  // results of a killed run may belong to another plan
  bool planned = false;
  try {
    planned = plan_job(folder.job(), {job.input}, settings, job.settings.noise, session.engine,
                       segment_frames, hooks);
  } catch (...) {
    folder.remove();
    throw;
  }
  if (!planned) {
    folder.remove();
  }
  return planned;
}

void require_same(const JobFolder& folder, const Plan& plan, const Job& job, const JobSettings& settings) {
  if (comparable(plan.settings) != comparable(settings) || plan.inputs.size() != 1 ||
      plan.inputs.front().path != planned_name(job.input)) {
    throw Error(
        folder.path() +
        ": was started with other options or another input; delete it to start again, or repeat the options");
  }
}

/// True if an earlier run completed the output and was killed before it removed the job's folder.
bool was_completed(const JobFolder& folder, const Job& job, const JobSettings& settings) {
  const std::optional<MergeRecord> record = read_merge_record(folder, 0);
  return record && record->input == planned_name(job.input) && record->settings == comparable(settings) &&
         is_merged(*record, job.output);
}

JobResult skipped(const Job& job) {
  const std::string why = job.output + ": exists";
  spdlog::info(fmt::format("skipped: {}", why));
  return {Outcome::kSkipped,
          {{"input", job.input}, {"output", job.output}, {"status", "skipped"}, {"skipped", why}}};
}

JobResult completed_before(const Job& job, ResumableFolder& folder) {
  folder.remove();
  spdlog::info(fmt::format("{}: was completed by an earlier run", job.output));
  return {Outcome::kDone,
          {{"input", job.input}, {"output", job.output}, {"status", "done"}, {"complete", true}}};
}

/// Does the missing segments and merges all. Nothing after an interrupt.
std::optional<MergedFile> work_and_merge(const JobFolder& folder, const Plan& plan, const Job& job,
                                         const Session& session, WorkReport& work) {
  WorkOptions how;
  how.waits = true;
  work = work_on(folder, plan, how, session.engine, session.interrupts.stop());
  if (!work.failed.empty()) {
    throw Error(fmt::format("{}: {} of {} segments failed; --resume tries them again", job.input,
                            work.failed.size(), plan.segments.size()));
  }
  MergedFile merged;
  if (!work.stopped) {
    merged =
        merge_input(folder, plan, 0, job.output,
                    job.existing == Existing::kOverwrite ? io::Overwrite::kAlways : io::Overwrite::kNever,
                    [&](std::int64_t, std::int64_t) { return !session.interrupts.interrupted(); });
  }
  if (merged.frames == 0) {
    spdlog::warn(fmt::format("interrupted: the same command resumes {}", folder.path()));
    return std::nullopt;
  }
  return merged;
}

JobResult merged_result(const Job& job, const MergedFile& merged, int segments, int segments_done,
                        const Engine& engine) {
  spdlog::info(fmt::format("{} to {}, {}", frames_text(merged.frames), job.output,
                           size_text(static_cast<std::int64_t>(merged.bytes))));
  return {Outcome::kDone,
          {{"input", job.input},
           {"output", job.output},
           {"status", "done"},
           {"engine", engine.name()},
           {"frames", merged.frames},
           {"samples", to_hex(merged.hash)},
           {"bytes", merged.bytes},
           {"segments", segments},
           {"segments_done_before", segments - segments_done},
           {"complete", true},
           {"cropping", text_of(merged.diagnostics, io::Diagnostic::Kind::kCropping)},
           {"dropped_streams", io::streams_left_out(merged.diagnostics)}}};
}

/// Sets the grain of the output and of the frames.
void set_grain(const Job& job, const Session& session, JobSettings& settings) {
  FilmGrainRequest request{.input = job.input,
                           .reader = settings.reader,
                           .noise = job.settings.noise,
                           .fields = job.settings.fields,
                           .frames = job.frames};
  request.reader.interrupted = [stop = session.interrupts.stop()] { return stop.stop_requested(); };
  settings.writer.film_grain = table_for_output(job.grain, request, *session.engine);
  settings.added_grain = table_to_add(job.grain, request, *session.engine);
}

/// Runs a job in segments of about `segment_frames` frames. Finished segments are kept in a folder beside the
/// output, "NAME.limpid-job", until the output is complete. After a kill or a power cut, the next run uses
/// these segments and removes temporary files of the killed run. An existing output counts as complete,
/// unless it may be overwritten. Throws the error that stopped the job, Error for a folder of that name that
/// is not a job, and UsageError for jobs that cannot be resumed.
JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t segment_frames,
                          const Session& session) {
  check_resumable(job);
  if (session.names != nullptr || job.output.empty()) {
    settle_name(job, io::Reader(job.input, job.reader), session);
  }
  using Kind = ResumableFolder::Kind;
  const std::string path = job.output + ".limpid-job";
  const Kind kind = ResumableFolder::kind_of(path);
  const bool is_there = file_exists(job.output) && job.existing != Existing::kOverwrite;
  if (kind == Kind::kNothing) {
    ResumableFolder::remove_shell(path);
  }
  if (is_there && (kind == Kind::kNothing || kind == Kind::kForeign)) {
    return skipped(job);
  }
  JobSettings settings = job_settings(options, *session.engine);
  if (kind != Kind::kForeign) {  // which is refused below
    settle_encoding(settings.writer, job.output, io::Reader(job.input, job.reader).video().lossless);
  }
  set_grain(job, session, settings);
  if (session.interrupts.interrupted()) {
    return {};
  }
  if (kind == Kind::kJob) {
    require_same(JobFolder(path), read_plan(JobFolder(path)), job, settings);  // before it is adopted
  }
  ResumableFolder folder(path);
  if (was_completed(folder.job(), job, settings)) {
    return completed_before(job, folder);
  }
  const bool began = file_exists(folder.job().plan());
  if (is_there && began) {
    throw Error(
        fmt::format("{}: exists and is not the output of {}; use -y to replace it, or delete one of them",
                    job.output, path));
  }
  if (is_there) {
    folder.remove();
    return skipped(job);
  }
  if (!began && !plan_it(folder, job, settings, segment_frames, session)) {
    return {};
  }
  const Plan plan = read_plan(folder.job());
  require_same(folder.job(), plan, job, settings);
  WorkReport work;
  const std::optional<MergedFile> merged = work_and_merge(folder.job(), plan, job, session, work);
  if (!merged) {
    return {};
  }
  try {
    folder.remove();
    return merged_result(job, *merged, static_cast<int>(plan.segments.size()), work.done, *session.engine);
  } catch (const std::bad_alloc&) {
    folder.remove();
    warn_of_missing_report(job.output);
    return {Outcome::kDone,
            {{"input", job.input}, {"output", job.output}, {"status", "done"}, {"complete", true}}};
  }
}

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
  if (options.overwrite && options.never_overwrite) {
    throw UsageError("-y and -n exclude each other");
  }
  Job job;
  const DenoisingOptions& denoising = options.denoising;
  const SettingsOptions& settings = denoising.settings;
  job.settings = settings.settings();
  job.strength = settings.noise.strength();
  denoising.check(options.resume);
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
  } else if (io::is_picture_name(jobs.output) && jobs.output.find('%') != std::string::npos) {
    create_folder(std::filesystem::absolute(jobs.output).parent_path().string());
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
    if (!jobs.advice.empty()) {
      spdlog::warn("each picture was denoised alone" + jobs.advice);
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
  command.begin_group(kGroup);
  command
      .add_option("-o,--output", options.output_option,
                  "Output file, image sequence, folder, or - for a y4m pipe [INPUT-denoised.EXT]")
      ->details(
          "A name that ends in / is a folder. In it, outputs have the names of the inputs. The output can "
          "also be given as the second of "
          "two arguments. Pipes, folders and image sequences have no default.")
      ->type_name("OUTPUT")
      ->file();
  command.add_flag("-y,--overwrite", options.overwrite, "Overwrite existing outputs without asking");
  command.add_flag("-n,--no-overwrite", options.never_overwrite,
                   "Skip inputs whose output exists [for several inputs]");
  options.denoising.add_range_to(command);
  command
      .add_flag("--strict", options.strict,
                "Fail at a damaged packet or frame, a file that ends early, or data beside the pictures that "
                "is not kept, instead of continuing")
      ->advanced();
  command
      .add_flag("--resume", options.resume, "Keep finished segments, and resume a run begun with --resume")
      ->details("They are in the folder OUTPUT.limpid-job, which is removed when the output is complete.");
  command
      .add_option(
          "--segment-frames", options.segment_frames,
          "Length of the segments of --resume, in frames; segments end at scene cuts if possible [250]")
      ->advanced()
      ->type_name("N")
      ->positive();
  options.denoising.add_streams_to(command);
}

void add_message_options(CommandLine& command, DenoiseCommandOptions& options) {
  constexpr const char* kGroup = "Messages";
  command.begin_group(kGroup);
  command.add_flag("-q,--quiet", options.quiet, "Print errors only");
  command
      .add_option("--progress", options.progress,
                  "Progress display: auto (on a terminal), plain, json or none [auto]")
      ->details(
          "plain prints a line with the time and the file every 30 seconds or 5 percent, json an object per "
          "second. The display shows frames, rates, and the load in percent of decoding, denoising, encoding "
          "and of a GPU's uploads, filtering and downloads.")
      ->type_name("STYLE")
      ->one_of({"auto", "plain", "json", "none"});
  command.add_flag("--json", options.json, "Print a report with the detected noise and all settings as JSON")
      ->details("Reports of several files are in the list files, beside status and totals.");
  command
      .add_option("--csv", options.csv,
                  "Write a table with a line per file: output, status, frames, time, size, noise, warnings")
      ->type_name("FILE")
      ->file(".csv")
      ->advanced();
  command
      .add_flag("--stats", options.stats,
                "Print the rate, latencies and waiting time of each stage at the end")
      ->advanced();
  add_logging_options(command, options.logging, kGroup);
  command.help_group(kGroup);
}

}  // namespace

void add_denoise_command(CommandLine& program) {
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
  command->callback([options](Console& console) { return denoise(*options, console); });
}

}  // namespace limpid::app
