// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"

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

/// A denoiser and the frames in it. Decides when to send a frame and when to fetch a result. One thread at a
/// time.
class DenoiseStage {
 public:
  using Maker = std::function<std::unique_ptr<Denoiser>(const Frame&, const NoiseModel&)>;

  /// `ready`, unless empty, is called on any thread when is_ready() may have become true.
  explicit DenoiseStage(StageCounters& counters, std::function<void()> ready = {})
      : counters_(counters), ready_(std::move(ready)) {}

  /// True if a result will follow without another frame or the end of the stream.
  bool owes_a_result() const { return denoiser_ && !wants_more_ && under_way() > latency(); }
  /// Denoiser::is_ready(), or true without a denoiser.
  bool is_ready() const { return !denoiser_ || denoiser_->is_ready(); }
  bool is_full() const { return denoiser_ && under_way() >= latency() + denoiser_->concurrency(); }
  bool has_denoiser() const { return denoiser_ != nullptr; }
  /// Number of frames sent whose results have not been received.
  std::int64_t under_way() const { return static_cast<std::int64_t>(sent_.size()); }
  /// Latency and concurrency of the denoiser, or 0 and 1 without one.
  int latency() const { return denoiser_ ? denoiser_->latency() : 0; }
  int concurrency() const { return denoiser_ ? denoiser_->concurrency() : 1; }
  /// Denoiser::device_stages() of the denoiser, or empty without one.
  DeviceStages on_device() const { return denoiser_ ? denoiser_->device_stages() : DeviceStages{}; }

  /// Denoiser::set_mix() of this denoiser and of those that follow it.
  void set_mix(float mix) {
    mix_ = mix;
    if (denoiser_) {
      denoiser_->set_mix(mix_);
    }
  }
  /// Sends a frame. `make` makes the denoiser if there is none.
  void send(Frame frame, const NoiseModel& level, const Maker& make);
  /// The next result if there is one.
  std::optional<Frame> receive();
  /// Ends the stream of this denoiser: all its results can then be received.
  void flush() {
    if (denoiser_) {
      timed(counters_.busy_ns, [&] { denoiser_->flush(); });
    }
  }
  /// Drops the frames in the denoiser and begins a new stream.
  void reset();
  /// Drops the denoiser and the frames in it.
  void abandon() {
    own(nullptr);
    sent_.clear();
    wants_more_ = false;
  }
  /// Makes the denoiser finish soon, possibly without a result. It must then be reset or abandoned. May be
  /// called on any thread.
  void cancel() {
    const std::scoped_lock lock(mutex_);
    if (denoiser_) {
      denoiser_->cancel();
    }
  }
  /// The beginning of the current work that the counters do not include yet; nothing if idle. May be called
  /// on any thread.
  std::optional<std::chrono::steady_clock::time_point> at_work_since() const {
    const std::scoped_lock lock(mutex_);
    return at_work_since_;
  }

 private:
  struct Sent {
    std::chrono::steady_clock::time_point at;
    bool context_only = false;
  };

  void own(std::unique_ptr<Denoiser> denoiser);
  /// Context frames have no results.
  void forget_context() {
    while (!sent_.empty() && sent_.front().context_only) {
      sent_.pop_front();
    }
  }

  StageCounters& counters_;
  std::function<void()> ready_;
  mutable std::mutex mutex_;  // of what other threads ask
  std::optional<std::chrono::steady_clock::time_point> at_work_since_;
  std::unique_ptr<Denoiser> denoiser_;
  NoiseModel noise_;
  float mix_ = 0;
  std::deque<Sent> sent_;    // the frames under way
  bool wants_more_ = false;  // had nothing to give
};

}  // namespace limpid::app
