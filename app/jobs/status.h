// SPDX-License-Identifier: MIT
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
  std::vector<Failure> failed;  ///< failed segments that no worker has claimed again
  double worker_fps = 0;        ///< average speed of a worker, in frames per second; 0 if not known
  /// Total frames per second of the running workers, and the remaining time at this speed; nothing if not
  /// known.
  double fps = 0;
  std::optional<double> seconds_left;
};

/// The current state of the folder. `patience` as in WorkOptions.
JobStatus status_of(const JobFolder& folder, const Plan& plan, double patience);

}  // namespace limpid::app
