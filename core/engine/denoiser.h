#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/bm3d/matched_group.h"
#include "core/engine/device_stages.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"

namespace limpid {

/// A stream of frames through one filter on one engine, in the shape of libav's codecs: send frames, receive
/// results, flush at the end. Results come out in the order the frames went in, each exactly once, but for
/// frames that are context only, which have none. Not thread-safe: one call at a time, on any thread. An
/// engine may have any number of denoisers, of any formats and filters, on one thread or on many at once,
/// inside a host's own oneTBB tasks too; they share its threads or its device, and may outlive it.
class Denoiser {
 public:
  Denoiser() = default;
  Denoiser(const Denoiser&) = delete;
  Denoiser(Denoiser&&) = delete;
  Denoiser& operator=(const Denoiser&) = delete;
  Denoiser& operator=(Denoiser&&) = delete;
  virtual ~Denoiser() = default;

  /// Sets the noise level for the frames sent from now on. Throws UsageError for negative or non-finite
  /// values.
  virtual void set_noise(const NoiseModel& noise) = 0;

  /// Takes a frame of the format the denoiser was made for, and keeps its memory for as long as it needs
  /// that. Does not wait for the result. Throws Error if the format differs or the engine can't read the
  /// frame's memory (Engine::memory()).
  virtual void send(Frame frame) = 0;

  /// From now on, send() calls `take` for a frame to write the result into. It must be of the same format, in
  /// Engine::result_memory(), and needs no `attachment`. Throws Error if there is no such
  /// device.
  virtual void set_result_frames(const std::function<Frame()>& /*take*/) {
    throw Error("the engine's results are in the host's memory");
  }

  /// The next result, complete, waiting for it if it is under way; in memory of the engine's, or as
  /// set_result_frames() says. `index`, `interlaced` and `attachment` are the sent frame's. Nothing if more
  /// input is needed first or, after flush(), at the end.
  virtual std::optional<Frame> receive() = 0;

  /// False while receive() would wait for one of several devices, which frames that are sent meanwhile keep
  /// busy.
  virtual bool is_ready() const { return true; }
  /// `listener` is called on any thread when is_ready() may have become true. Set before the first frame is
  /// sent.
  virtual void set_ready_listener(const std::function<void()>& /*listener*/) {}

  /// Tells the denoiser that nobody wants its results any more. A receive() that is under way on another
  /// thread, and later ones, may return nothing at once. May be called on any thread at any time. An engine
  /// that is quick may ignore it.
  virtual void cancel() {}

  /// No more frames will be sent, unless reset() begins anew: receive() then hands out all that remain.
  virtual void flush() = 0;

  /// As new, but for the noise level and the memory and tables that it has: the frames that are with it are
  /// let go of without results, and flush() and cancel() are forgotten. May wait for work that is under way.
  virtual void reset() = 0;

  /// Sentences for the user about what will not be filtered as asked, such as planes smaller than a patch,
  /// which pass through unchanged. Complete from the start.
  virtual std::vector<std::string> warnings() const = 0;

  virtual Reach reach() const { return {}; }

  /// How many later frames must be sent before a frame's result can come, unless one of them begins anew: the
  /// reach's `after`.
  int latency() const { return reach().after; }

  /// How many frames it works on at a time. To keep it busy, send latency() + concurrency() frames before
  /// receiving the first result, then another frame for each result.
  virtual int concurrency() const { return 1; }

  /// What a device with memory of its own has done so far, counted over finished frames, received or not.
  /// Counts nothing if there is no such device. Several devices count as one that takes as many frames as all
  /// of them.
  virtual DeviceStages device_stages() const { return {}; }
};

/// Finds the groups that BM3D filters. All engines filter the same ones.
class PatchSearch {
 public:
  PatchSearch() = default;
  PatchSearch(const PatchSearch&) = delete;
  PatchSearch(PatchSearch&&) = delete;
  PatchSearch& operator=(const PatchSearch&) = delete;
  PatchSearch& operator=(PatchSearch&&) = delete;
  virtual ~PatchSearch() = default;

  /// The group of the first step on the first plane (for RGB on the opponent Y) of a frame in host memory,
  /// taken as progressive. Its reference patch is the one of the grid whose center is nearest to sample (x,
  /// y). Throws UsageError for illegal parameters or a sample outside of the plane, and Error if the plane is
  /// smaller than a patch.
  virtual MatchedGroup find_matches(const Frame& frame, const Bm3dParameters& parameters,
                                    const NoiseModel& noise, int x, int y) = 0;
};

/// A place to compute. Thread-safe: all may be called on several threads at once.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine& operator=(Engine&&) = delete;
  virtual ~Engine() = default;

  /// The name under which the registry opens it: "cpu", "cuda:0", ...
  virtual std::string_view name() const = 0;
  /// One line for a person: the processor, its threads and instruction set.
  virtual std::string description() const = 0;

  /// Throws UsageError for illegal parameters and Error where the format or the filter is not supported.
  virtual std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                                  const FrameFormat& format) = 0;

  /// A frame in memory that the engine reads fastest. Its memory goes back to a pool when the last copy is
  /// gone; the frame may outlive the engine.
  virtual Frame allocate_frame(const FrameFormat& format) = 0;

  /// The memory in which frames that are sent may be, besides the host's; the host's if there is no other.
  virtual MemoryDomain memory() const { return kHostMemory; }

  /// The memory in which Denoiser::set_result_frames() can have results written, besides the host's; the
  /// host's if there is no other.
  virtual MemoryDomain result_memory() const { return kHostMemory; }

  /// `frame` itself, if it is in host memory; otherwise, if it is in memory(), a copy that is.
  virtual Frame in_host_memory(const Frame& frame) { return frame; }

  /// The noise level of one frame, equal to that of cpu::estimate_noise() up to rounding; and its brightness
  /// histogram, equal to limpid::brightness_histogram(). Both take frames in any memory that send() accepts.
  virtual NoiseModel estimate_noise(const Frame& frame) = 0;
  /// What `frame` tells of its noise, and what its differences from the frame before it tell, unless that is
  /// null. Both have one format. Nothing if the engine doesn't measure.
  virtual noise::NoiseStatistics measure_noise(const Frame& /*frame*/, const Frame* /*before*/,
                                               const BrightnessScale& /*scale*/) {
    return {};
  }
  virtual BrightnessHistogram brightness_histogram(const Frame& frame) {
    return limpid::brightness_histogram(in_host_memory(frame));
  }

  /// Equal to limpid::combed_share(), of frames in any memory that send() accepts, both in the same. 0 if the
  /// engine can't recognize combing.
  virtual float combed_share(const Frame& /*frame*/, const Frame& /*before*/) { return 0; }

  /// Searches of groups, for tools that draw them; nullptr if the engine has none.
  virtual PatchSearch* patch_search() { return nullptr; }

  /// Whether a source should copy its frames, on its own thread, into memory of allocate_frame(). If so,
  /// send() takes such frames at once, but waits while it reads a frame that is in other host memory.
  virtual bool prefers_own_frames() const { return false; }
};

struct EngineOptions {
  int threads = 0;  ///< of the CPU engine; 0: one for each processor that the process may use
};

/// What the registry knows of an engine before it is opened.
struct EngineInfo {
  /// The family's name, or the family's name, a colon and a device: "cpu", "cuda:0", ...; "cuda" alone if
  /// none of its devices can be listed.
  std::string name;
  std::string description;         ///< the processor, or why the engine can't run
  std::uint64_t memory_bytes = 0;  ///< of the device; 0 if not known
  bool available = false;
};

/// Families of engines, best first. It begins empty; core/engines.h adds Limpid's own. Thread-safe. Listers
/// and openers may call the registry themselves.
class EngineRegistry {
 public:
  using Lister = std::function<std::vector<EngineInfo>()>;
  using Opener = std::function<std::shared_ptr<Engine>(std::string_view name, const EngineOptions&)>;

  /// Adds a family of engines, ahead of those already there. `list` and `open` may be called on several
  /// threads at once.
  void add(std::string family, Lister list, Opener open);
  /// All engines, those that can't run included, best first.
  std::vector<EngineInfo> list() const;
  /// Opens an engine by name; "auto" is the first that is available, "cuda:0,1" and "cuda:all" are several as
  /// one (core/engine/engine_group.h). Only the named family is asked; for "auto", families are asked in
  /// order until one has an engine that can run. Throws UsageError for an unknown name and Error, with the
  /// reason, for one that can't run.
  std::shared_ptr<Engine> open(std::string_view name, const EngineOptions& options = {}) const;

 private:
  struct Family {
    std::string name;
    Lister list;
    Opener open;
  };
  using Families = std::vector<std::shared_ptr<const Family>>;
  // A copy of the list, so that families are asked while the lock is free.
  Families families() const;

  mutable std::mutex mutex_;
  Families families_;
};

}  // namespace limpid
