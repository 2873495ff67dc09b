// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"

namespace limpid {

/// Activity of one stage of a device, in nanoseconds of its clock. A turn is the stage's work on one frame.
/// Between the beginning of its first turn and the end of its last, the stage was either busy or waiting.
struct DeviceStage {
  std::int64_t frames = 0;
  std::int64_t busy_ns = 0;
  std::int64_t waited_for_input_ns = 0;   ///< time of waiting for the stage before, or for a frame
  std::int64_t waited_for_output_ns = 0;  ///< time of waiting for free memory in the stage after
  std::int64_t end_ns = 0;                ///< time when the last turn ended

  /// Adds the turn of the next frame. The turn began when the previous turn had ended, its input was
  /// available (`input`) and memory for its output was free (`room`), and ended at `end`. All times have one
  /// arbitrary origin. Clocks are not exact: if `end` precedes the beginning, the turn counts as zero time.
  void add_turn(std::int64_t input, std::int64_t room, std::int64_t end) {
    const std::int64_t free = frames > 0 ? end_ns : std::max(input, room);
    const std::int64_t begin = std::max({free, input, room});
    end_ns = std::max(begin, end);
    const std::int64_t had_room = std::clamp(room, free, begin);
    ++frames;
    waited_for_output_ns += had_room - free;
    waited_for_input_ns += begin - had_room;
    busy_ns += end_ns - begin;
  }
};

/// The stages through which each frame passes in a device with its own memory. Stages work on different
/// frames at the same time.
struct DeviceStages {
  DeviceStage upload;  ///< copies from host memory or a decoder
  DeviceStage filter;
  DeviceStage download;  ///< copies to host memory or an encoder
};

/// A stream of frames through one filter on one engine, with the interface of libav's codecs: send frames,
/// receive results, flush at the end. Results have the order of the frames that were sent. Each frame has
/// exactly one result; frames that are context only have none. Not thread-safe: one call at a time, on any
/// thread. An engine may have any number of denoisers, of any formats and filters, on one or several threads,
/// also inside the host's oneTBB tasks. Denoisers share the engine's threads or device and may outlive the
/// engine.
class Denoiser : NotCopyable {
 public:
  virtual ~Denoiser() = default;

  /// Sets the noise level for frames that are sent after this call. Throws UsageError for negative or
  /// non-finite values.
  virtual void set_noise(const NoiseModel& noise) = 0;

  /// Sets the share of the noisy samples in the results of frames that are sent after this call
  /// (core/frame/region.h), initially 0. Throws UsageError unless it is from 0 to 1.
  virtual void set_mix(float mix) = 0;

  /// Takes a frame of the denoiser's format and keeps its memory as long as required. Does not wait for the
  /// result. Throws Error if the format differs or the engine cannot read the frame's memory
  /// (Engine::memory()).
  virtual void send(Frame frame) = 0;

  /// Makes send() call `take` for each frame to get the frame for its result. That frame must have the
  /// denoiser's format and be in Engine::result_memory(); its `attachment` is ignored. Throws Error if the
  /// engine has no device.
  virtual void set_result_frames(const std::function<Frame()>& /*take*/) {
    throw Error("the engine's results are in the host's memory");
  }

  /// Returns the next result when it is complete; waits for results in progress. The result is in the
  /// engine's memory or in the frame of set_result_frames(). `index`, `interlaced` and `attachment` are
  /// copied from the sent frame. Returns nothing if more input is required or, after flush(), at the end.
  virtual std::optional<Frame> receive() = 0;

  /// False if receive() would wait for one of several devices although further frames can keep the devices
  /// busy.
  virtual bool is_ready() const { return true; }
  /// Sets a function that is called, on any thread, when is_ready() may have become true. Must be called
  /// before the first frame is sent.
  virtual void set_ready_listener(const std::function<void()>& /*listener*/) {}

  /// Abandons all results. A receive() in progress on another thread, and later calls, may return nothing
  /// immediately. May be called on any thread at any time. Fast engines may ignore it.
  virtual void cancel() {}

  /// Ends the stream, so that receive() returns all remaining results. No frame may be sent until reset().
  virtual void flush() = 0;

  /// Drops all frames in progress without results, and cancels flush() and cancel(). Keeps the noise level,
  /// memory and tables. May wait for work in progress.
  virtual void reset() = 0;

  /// Sentences for the user about parts that are not filtered as requested, such as planes smaller than a
  /// patch, which pass through unchanged. Complete from construction on.
  virtual std::vector<std::string> warnings() const = 0;

  virtual Reach reach() const { return {}; }

  /// The number of later frames that must be sent before a frame's result is available: the reach's `after`.
  /// A frame with `begins_anew` and flush() end the wait early.
  int latency() const { return reach().after; }

  /// The number of frames in progress that keep the engine busy. For full speed, send latency() +
  /// concurrency() frames before receiving the first result, then one frame for each result.
  virtual int concurrency() const { return 1; }

  /// Activity of a device with its own memory so far, over all finished frames, received or not. All zero
  /// without such a device. Several devices count as one that processes all frames.
  virtual DeviceStages device_stages() const { return {}; }
};

/// A processor that runs denoisers. Thread-safe: all functions may be called on several threads at once.
class Engine : NotCopyable {
 public:
  virtual ~Engine() = default;

  /// Name in the registry: "cpu", "cuda:0", ...
  virtual std::string_view name() const = 0;
  /// One line for the user: the processor, its threads and instruction set.
  virtual std::string description() const = 0;

  /// Throws UsageError for illegal parameters, and Error if the format or the filter is not supported.
  virtual std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                                  const FrameFormat& format) = 0;

  /// A frame in the memory that the engine reads fastest. Its memory returns to a pool with the last copy of
  /// the frame. The frame may outlive the engine.
  virtual Frame allocate_frame(const FrameFormat& format) = 0;

  /// The memory from which send() reads, in addition to host memory; host memory if there is no other.
  virtual MemoryDomain memory() const { return kHostMemory; }

  /// The memory for frames of Denoiser::set_result_frames(), in addition to host memory; host memory if there
  /// is no other.
  virtual MemoryDomain result_memory() const { return kHostMemory; }

  /// Returns a frame in host memory unchanged, and a copy in host memory of a frame in memory().
  virtual Frame in_host_memory(const Frame& frame) { return frame; }

  /// The noise level of one frame, equal to cpu::estimate_noise() up to rounding, and its brightness
  /// histogram, equal to limpid::brightness_histogram(). Both accept frames in any memory that send()
  /// accepts.
  virtual NoiseModel estimate_noise(const Frame& frame) = 0;
  /// Noise statistics of `frame` and of its differences from the frame before, unless that is null. Both have
  /// one format. Empty if the engine does not measure noise.
  virtual noise::NoiseStatistics measure_noise(const Frame& /*frame*/, const Frame* /*before*/,
                                               const noise::SceneRange& /*range*/) {
    return {};
  }
  /// ChannelStatistics::levels of the first channel of measure_noise(), at least, without a frame before.
  virtual noise::ChannelStatistics measure_levels(const Frame& frame, const noise::SceneRange& range) {
    return measure_noise(frame, nullptr, range).channels[0];
  }
  virtual BrightnessHistogram brightness_histogram(const Frame& frame) {
    return limpid::brightness_histogram(in_host_memory(frame));
  }

  /// Equal to limpid::combed_share(), for two frames in one of the memories that send() accepts. 0 if the
  /// engine does not detect combing.
  virtual float combed_share(const Frame& /*frame*/, const Frame& /*before*/) { return 0; }

  /// True if sources should copy frames to memory of allocate_frame() on their own thread. send() then
  /// accepts such frames at once, but waits while it reads frames in other host memory.
  virtual bool prefers_own_frames() const { return false; }
};

struct EngineOptions {
  int threads = 0;  ///< number of threads of the CPU engine; 0: one per processor that the process may use
};

/// Description of an engine that is not open.
struct EngineInfo {
  /// The name of the family, or the family, a colon and a device: "cpu", "cuda:0", ... A family whose devices
  /// cannot be listed has its own name: "cuda".
  std::string name;
  std::string description;         ///< the processor, or the reason why the engine cannot run
  std::uint64_t memory_bytes = 0;  ///< memory of the device; 0 if unknown
  bool available = false;
};

/// Families of engines, best first. Initially empty; core/engines.h adds Limpid's families. Thread-safe.
/// Listers and openers may call the registry.
class EngineRegistry {
 public:
  using Lister = std::function<std::vector<EngineInfo>()>;
  using Opener = std::function<std::shared_ptr<Engine>(std::string_view name, const EngineOptions&)>;

  /// Adds a family of engines ahead of the present ones. `list` and `open` may be called on several threads
  /// at once.
  void add(std::string family, Lister list, Opener open);
  /// All engines, best first, including those that cannot run.
  std::vector<EngineInfo> list() const;
  /// Opens an engine by name. "auto" is the first available engine; "cuda:0,1" and "cuda:all" are several
  /// engines as one (core/engine/engine_group.h). Only the named family is loaded; for "auto", families are
  /// loaded in order until one has an engine that can run. Throws UsageError for an unknown name, and an
  /// Error with the reason for an engine that cannot run.
  std::shared_ptr<Engine> open(std::string_view name, const EngineOptions& options = {}) const;

 private:
  struct Family {
    std::string name;
    Lister list;
    Opener open;
  };
  using Families = std::vector<std::shared_ptr<const Family>>;
  // A copy of the list, for calls to families without the lock.
  Families families() const;

  mutable std::mutex mutex_;
  Families families_;
};

}  // namespace limpid
