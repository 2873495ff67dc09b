#include "app/jobs/status.h"

#include <set>
#include <utility>

#include "app/jobs/claims.h"
#include "core/base/error.h"

namespace limpid::app {

JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience) {
  JobStatus status;
  status.stretches = static_cast<int>(plan.stretches.size());
  const std::set<int> claimed = folder.numbers_in("claims");
  const std::set<int> failed = folder.numbers_in("failed");
  Claims claims(folder, patience);
  double seconds = 0;
  for (int number = 0; number < status.stretches; ++number) {
    const std::int64_t frames = plan.stretches[static_cast<std::size_t>(number)].frames;
    status.frames += frames;
    if (const std::optional<DoneStretch> done = read_done(folder, number)) {
      ++status.done;
      status.frames_done += frames;
      seconds += done->seconds;
    } else if (claimed.contains(number) && claims.is_taken(number)) {
      status.running.push_back(number);
    } else if (failed.contains(number)) {
      std::string sentence;
      try {
        sentence = read_json(folder.failed(number)).value("error", "");
      } catch (const Error&) {
        // Taken up again at this very moment.
        continue;
      }
      status.failed.push_back({number, std::move(sentence)});
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
