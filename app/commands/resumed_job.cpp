#include "app/commands/resumed_job.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <system_error>

#include "app/commands/job_options.h"
#include "app/jobs/merge.h"
#include "app/jobs/planning.h"
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
    throw UsageError("--resume: what comes through a pipe can't be read again; name files");
  }
}

void remove_folder(const std::string& folder) {
  std::error_code failure;
  fs::remove_all(folder, failure);
  if (failure) {
    spdlog::warn(fmt::format("{}: can't remove the folder: {}", folder, failure.message()));
  }
}

/// False if an interrupt came first; nothing is left then.
bool plan_it(const JobFolder& folder, const Job& job, const JobSettings& settings,
             std::int64_t stretch_frames, const Session& session) {
  PlanningHooks hooks;
  hooks.progress = [&](std::int64_t, std::int64_t) { return !session.interrupts.interrupted(); };
  hooks.leaves_out = [](const std::string&, const std::exception&) { return false; };
  bool planned = false;
  try {
    planned = plan_job(folder, {job.input}, settings, job.noise, session.engine, stretch_frames, hooks);
  } catch (...) {
    remove_folder(folder.path());
    throw;
  }
  if (!planned) {
    remove_folder(folder.path());
  }
  return planned;
}

void require_same(const JobFolder& folder, const Plan& plan, const Job& job, const JobSettings& settings) {
  const std::string path = fs::exists(job.input) ? fs::absolute(job.input).string() : job.input;
  if (to_json(plan.settings) != to_json(settings) || plan.inputs.front().path != path) {
    throw Error(folder.path() +
                ": was begun with other options or another input; delete it to begin anew, or repeat the "
                "options");
  }
}

}  // namespace

JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t stretch_frames,
                          const Session& session) {
  check_resumable(job);
  if (session.names != nullptr) {
    const io::Reader reader(job.input, job.reader);
    job.output = session.names->name_for(job.input, reader.video().still_picture, job.writer);
  }
  const JobFolder folder(job.output + ".limpid-job");
  const bool began = file_exists(folder.plan());
  if (!began && file_exists(job.output) && job.existing != Existing::kOverwrite) {
    const std::string why = job.output + ": exists";
    spdlog::info(fmt::format("skipped: {}", why));
    return {Outcome::kSkipped, {{"input", job.input}, {"output", job.output}, {"skipped", why}}};
  }
  const JobSettings settings = job_settings(options, *session.engine);
  if (!began && !plan_it(folder, job, settings, stretch_frames, session)) {
    return {};
  }
  const Plan plan = read_plan(folder);
  require_same(folder, plan, job, settings);
  WorkOptions how;
  how.waits = true;
  const WorkReport work = work_on(folder, plan, how, session.engine, session.interrupts.stop());
  if (!work.failed.empty()) {
    throw Error(fmt::format("{}: {} of {} stretches failed; --resume tries them again", job.input,
                            work.failed.size(), plan.stretches.size()));
  }
  const auto tell_where = [&] {
    spdlog::warn(fmt::format("interrupted: the same command goes on with {}", folder.path()));
  };
  if (work.stopped) {
    tell_where();
    return {};
  }
  const MergedFile merged =
      merge_input(folder, plan, 0, job.output,
                  job.existing == Existing::kOverwrite ? io::Overwrite::kAlways : io::Overwrite::kNever,
                  [&](std::int64_t, std::int64_t) { return !session.interrupts.interrupted(); });
  if (merged.frames == 0) {
    tell_where();
    return {};
  }
  remove_folder(folder.path());
  spdlog::info(fmt::format("{} frames to {}, {:.1f} MB", merged.frames, job.output,
                           static_cast<double>(merged.bytes) / 1e6));
  return {Outcome::kDone,
          {{"input", job.input},
           {"output", job.output},
           {"engine", session.engine->name()},
           {"frames", merged.frames},
           {"samples", to_hex(merged.hash)},
           {"bytes", merged.bytes},
           {"stretches", plan.stretches.size()},
           {"stretches_done_before", static_cast<int>(plan.stretches.size()) - work.done},
           {"complete", true},
           {"streams_left_out", io::streams_left_out(merged.diagnostics)}}};
}

}  // namespace limpid::app
