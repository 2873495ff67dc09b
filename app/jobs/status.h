#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/plan.h"

namespace limpid::app {

struct JobStatus {
  struct Failure {
    int segment = 0;
    std::string sentence;
  };
  int segments = 0;
  std::int64_t frames = 0;
  int done = 0;
  std::int64_t frames_done = 0;
  std::vector<int> running;
  std::vector<Failure> failed;  ///< and not taken up again
  double worker_fps = 0;        ///< that a worker makes, on average; 0 if not known
  /// Frames per second of those that are running, and seconds to the end with them; nothing if not known.
  double fps = 0;
  std::optional<double> seconds_left;
};

/// The current state of the folder. `patience` as in WorkOptions.
JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience);

}  // namespace limpid::app
