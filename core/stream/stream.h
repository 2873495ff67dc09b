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
#include <optional>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/system/stop_callback.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/stream_item.h"
#include "core/stream/noise_control.h"

namespace limpid {

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

/// A stream of frames through noise estimation and a filter. Each frame is filtered with its own noise level,
/// and by field if FieldControl selects it. One call at a time. Functions throw UsageError for frames or
/// settings that do not match the stream, and Error for failures of the engine.
class DenoisingStream {
 public:
  DenoisingStream(std::shared_ptr<Engine> engine, const Filter& filter, const NoiseSettings& noise,
                  FieldChoice fields, const FrameFormat& format, Latency latency = Latency::kLookAhead);

  /// Takes the next frame, in the stream's format and in memory that the engine reads. `result` is the frame
  /// for its result. Either all frames of the stream have a `result`, except those that are context only, or
  /// none has.
  void send(Frame frame, std::optional<Frame> result = {});
  /// The next result. Returns nothing if more frames are required or, after flush(), at the end.
  std::optional<Frame> receive();
  /// Denoiser::cancel(). May be called on any thread during receive(); reset() must follow.
  void cancel() { denoiser_->cancel(); }
  /// Ends the stream: all results can then be received. No frame may be sent until reset().
  void flush();
  bool is_flushed() const { return is_flushed_; }
  /// Drops the frames in progress and begins a new stream.
  void reset();

  /// Sets the noise of later frames. Frames that already have a level keep it.
  void set_noise(const NoiseSettings& noise);

  /// The number of later frames that must be sent before a frame's result is available.
  int latency() const { return control_->look_ahead() + denoiser_->latency(); }
  /// NoiseControl::grid().
  LevelGrid level_grid() const { return control_->grid(); }
  /// The neighboring frames on which the result of a frame depends, apart from noise estimates.
  Reach reach() const {
    return Repairer::reach_with(control_->repair(), FieldControl::reach_with(fields_, denoiser_->reach()));
  }
  /// The noise of the last frame that was passed to the filter, as NoiseControl::found() returns it.
  const std::optional<NoiseEstimate>& found() const { return found_; }
  /// The noise of the frame whose result was received last.
  const std::optional<NoiseEstimate>& found_of_result() const { return found_of_result_; }
  Engine& engine() const { return *engine_; }
  const Denoiser& denoiser() const { return *denoiser_; }
  const FrameFormat& format() const { return format_; }
  const Filter& filter() const { return filter_; }

 private:
  enum class Results : std::uint8_t { kNotKnown, kOwn, kGiven };
  struct Sent {
    std::optional<Frame> result;  // the frame for its result
    bool behind_gap = false;      // the denoiser lacks the frame before
  };

  void check(const Frame& frame) const;
  void choose_results(bool given);
  /// Passes all frames that have a level to the filter.
  void pass_on();

  std::shared_ptr<Engine> engine_;
  FrameFormat format_;
  Filter filter_;
  FieldChoice fields_;
  std::unique_ptr<Denoiser> denoiser_;
  std::optional<NoiseControl> control_;
  NoiseModel level_;                  // current level of the denoiser
  std::deque<Sent> sent_;             // the frames without a level
  std::optional<Frame> next_result_;  // result frame of the frame that is being sent to the denoiser
  Results kind_of_results_ = Results::kNotKnown;
  std::optional<NoiseEstimate> found_, found_of_result_;
  std::deque<NoiseEstimate> founds_;  // of the results to come
  bool has_gap_ = false;              // the denoiser lacks the last frame
  bool is_flushed_ = false;
};

/// What a stream connects. Each function is called from one thread only; any of them may throw.
struct StreamParts {
  /// The source: returns frames and packets to copy, then EndOfStream. Called on the reader thread.
  std::function<StreamItem()> read;
  /// Called when a part has failed, on the thread of that part. A read() that waits for the source must
  /// then return soon, with any item. May be empty if read() never waits.
  std::function<void()> stop_reading;
  /// Assigns noise levels to the frames, on the noise thread.
  Leveler* noise = nullptr;
  /// Makes the denoiser when the first frame and its noise level are known. Called on the calling thread.
  DenoiseStage::Maker make_denoiser;
  float mix = 0;  ///< Denoiser::set_mix()
  /// The sink. Called on the writer thread.
  std::function<void(const Frame&)> write_frame;
  /// Also the sink. May be empty: packets are then dropped.
  std::function<void(const Packet&)> write_packet;
};

struct StreamOptions {
  std::int64_t frame_limit = 0;  ///< maximum number of frames to read; 0: no limit
  /// Maximum number of frames that have a noise level and wait to be denoised; fewer, but at least three, if
  /// they take more than 128 MiB. Three if they are in the memory of a GPU's decoder, which has few surfaces.
  /// After a stop, all these frames are still denoised, unless `abandon` is requested.
  std::size_t queued_frames = 3;
  /// Maximum number of results that wait to be encoded; fewer if they take more than 128 MiB. Decoders and
  /// encoders that work on many frames at once deliver and accept them in bursts.
  std::size_t queued_results = 16;
  /// Drops all frames that have not reached the sink, also those in the denoiser. run_stream() then returns
  /// soon and without an error.
  std::stop_token abandon;
};

struct StreamCounters {
  StageCounters read;
  StageCounters noise;  ///< without frames if the noise is not estimated
  StageCounters denoise;
  StageCounters write;
  /// Times of the denoiser's device within `denoise`. Without frames if the device has no memory of its own.
  StageTimes upload;
  StageTimes filter;
  StageTimes download;

  bool on_device() const { return filter.frames > 0; }
};

/// Thrown by run_stream() if denoising fails. The results of earlier frames have been written. It has the
/// message of the failure.
class DenoisingFailure : public Error {
 public:
  DenoisingFailure(const std::string& message, bool out_of_memory)
      : Error(message), out_of_memory_(out_of_memory) {}
  bool out_of_memory() const { return out_of_memory_; }

 private:
  bool out_of_memory_;
};

/// reader thread ─► queue ─► noise thread ─► queue ─► calling thread: denoise ─► queue ─► writer thread
///
/// Noise is estimated while frames are denoised, because on a GPU estimation consists mostly of waiting.
///
/// Runs until the source ends, `frame_limit` is reached or a stop is requested. Then reading ends, and the
/// frames already read are finished unless `StreamOptions::abandon` is requested. The denoiser receives as
/// many frames at once as it can process, but no frame waits for a later one. Packets overtake frames in the
/// denoiser and otherwise keep their order. Throws the error of the first part that fails, and drops
/// unfinished frames. If denoising fails, the finished results are written first.
void run_stream(const StreamParts& parts, const StreamOptions& options, StreamCounters& counters,
                const std::stop_token& stop);

}  // namespace limpid
