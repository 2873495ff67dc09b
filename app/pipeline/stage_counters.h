// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "core/base/not_copyable.h"

namespace limpid::app {

/// A histogram of the latencies of frames, of fixed size and exact to 2 %: each octave of nanoseconds has 32
/// buckets.
struct Latencies {
  static constexpr int kOctaveBits = 5;
  static constexpr std::size_t kBuckets = std::size_t{38}
                                          << kOctaveBits;  // an hour; what is longer counts as that

  /// The latencies added since `earlier`.
  Latencies since(const Latencies& earlier) const;
  /// The latency in ms that the share `share` of frames does not exceed: 0.5 is the median, 1 the largest
  /// latency. 0 without frames.
  double milliseconds(double share) const;

  std::array<std::int64_t, kBuckets> counts{};
};

/// The median, the 99th percentile and the largest latency, for reports.
nlohmann::ordered_json to_json(const Latencies& latencies);

/// Counts latencies. May be read while another thread counts.
class LatencyCounter {
 public:
  void add(std::chrono::nanoseconds latency);
  Latencies latencies() const;

 private:
  std::array<std::atomic<std::int64_t>, Latencies::kBuckets> counts_{};
};

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
