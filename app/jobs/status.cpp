// SPDX-License-Identifier: MIT
#include "app/jobs/status.h"

#include <set>

#include "app/jobs/job_folder.h"
#include "core/base/error.h"
#include "core/settings/json_reader.h"

namespace limpid::app {

JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience) {
  JobStatus status;
  status.segments = static_cast<int>(plan.segments.size());
  const std::set<int> claimed = folder.numbers_in("claims");
  const std::set<int> failed = folder.numbers_in("failed");
  Claims claims(folder, patience);
  double seconds = 0;
  for (int number = 0; number < status.segments; ++number) {
    const std::int64_t frames = plan.segments[static_cast<std::size_t>(number)].frames;
    status.frames += frames;
    std::string why;
    try {
      if (const std::optional<DoneSegment> done = read_done(folder, plan, number)) {
        ++status.done;
        status.frames_done += frames;
        seconds += done->seconds;
        continue;
      }
      if (failed.contains(number) && file_exists(folder.failed(number))) {
        const JsonDocument document = JsonDocument::read(folder.failed(number), kMostFailure);
        why = document.root().at("error").text();
      }
    } catch (const Error& damage) {
      why = damage.what();
    }
    if (claimed.contains(number) && claims.is_taken(number)) {
      status.running.push_back(number);
    } else if (!why.empty()) {
      status.failed.push_back({number, why});
    }
  }
  if (seconds > 0) {
    status.worker_fps = static_cast<double>(status.frames_done) / seconds;
    status.fps = status.worker_fps * static_cast<double>(status.running.size());
  }
  if (status.fps > 0) {
    status.seconds_left = static_cast<double>(status.frames - status.frames_done) / status.fps;
  }
  return status;
}

}  // namespace limpid::app
