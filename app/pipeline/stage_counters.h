// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "app/pipeline/latencies.h"
#include "core/base/not_copyable.h"

namespace limpid::app {

/// Counters of a stage of a pipeline, readable while it runs.
struct StageTimes {
  std::atomic<std::int64_t> frames = 0;
  std::atomic<std::int64_t> busy_ns = 0;               ///< time at work
  std::atomic<std::int64_t> waited_for_input_ns = 0;   ///< time of waiting for the stage before
  std::atomic<std::int64_t> waited_for_output_ns = 0;  ///< time of waiting for the stage after
};

struct StageCounters : StageTimes {
  LatencyCounter latency;  ///< latency of each frame, from its arrival in the stage to its result
};

/// Calls function() and adds its duration to `total`.
template <class Function>
auto timed(std::atomic<std::int64_t>& total, const Function& function) {
  using Clock = std::chrono::steady_clock;
  class Timer : NotCopyable {
   public:
    explicit Timer(std::atomic<std::int64_t>& nanoseconds) : total_(nanoseconds) {}
    ~Timer() {
      total_ += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count();
    }

   private:
    std::atomic<std::int64_t>& total_;
    Clock::time_point begin_ = Clock::now();
  };
  const Timer timer(total);
  return function();
}

}  // namespace limpid::app
