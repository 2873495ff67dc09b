// SPDX-License-Identifier: MIT
#include "app/commands/resumed_job.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

#include "app/commands/denoising_options.h"
#include "app/commands/output_grain.h"
#include "app/console/diagnostics.h"
#include "app/console/quantity_text.h"
#include "app/jobs/merge.h"
#include "app/jobs/planning.h"
#include "app/jobs/resumable_folder.h"
#include "app/jobs/work.h"
#include "core/base/error.h"

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
bool plan_it(const ResumableFolder& folder, const Job& job, const JobSettings& settings,
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
    throw Error(folder.path() +
                ": was started with other options or another input; delete it to start again, or repeat the "
                "options");
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

JobResult completed_before(const Job& job, const ResumableFolder& folder) {
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

}  // namespace

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
  set_grain(job, session, settings);
  if (session.interrupts.interrupted()) {
    return {};
  }
  if (kind == Kind::kJob) {
    require_same(JobFolder(path), read_plan(JobFolder(path)), job, settings);  // before it is adopted
  }
  const ResumableFolder folder(path);
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

}  // namespace limpid::app
