// SPDX-License-Identifier: MIT

#include "cuda/engine/cuda_engine.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/frame/combing.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"
#include "cuda/engine/mixed_filter.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

namespace {

// Calls `enqueue`, which puts work into the stream, and waits until all of it is done, even where not all
// could be enqueued: then the device leaves the memory alone.
template <typename Enqueue>
void enqueue_and_wait(const Stream& stream, const Enqueue& enqueue) {
  try {
    enqueue();
  } catch (...) {
    cudaStreamSynchronize(stream.get());
    throw;
  }
  check(cudaStreamSynchronize(stream.get()));
}

std::string describe(const cudaDeviceProp& properties) {
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor);
}

// Device memory for the analysis of frames of one format.
struct Workspace {
  explicit Workspace(const FrameFormat& its_format) : format(its_format), frame(its_format) {}
  FrameFormat format;
  DeviceFrame frame;
  std::optional<DeviceFrame> before;  // the frame before it
  std::optional<NoiseMeasurer> measurer;
};

// Working memory and streams with which one thread analyzes frames on the current device.
class Analysis {
 public:
  Workspace& workspace(const FrameFormat& format) {
    const auto known = std::ranges::find(workspaces_, format, &Workspace::format);
    if (known != workspaces_.end()) {
      workspaces_.splice(workspaces_.begin(), workspaces_, known);
    } else {
      if (workspaces_.size() == kMostFormats) {
        workspaces_.pop_back();
      }
      workspaces_.emplace_front(format);
    }
    return workspaces_.front();
  }

  NoiseEstimator noise;
  Event decoded;
  Event uploaded;
  Stream stream{Stream::Priority::kUrgent};

 private:
  static constexpr std::size_t kMostFormats = 4;

  // Workspaces of the last formats, the newest first: streams of different formats may take turns.
  std::list<Workspace> workspaces_;
};

// One Analysis for each thread that analyzes frames at the same time, up to the number that keeps the device
// busy.
class AnalysisPool {
 public:
  AnalysisPool() { unused_.reserve(kMost); }  // so that give_back() can't fail

  // The one that was used last, if there is one.
  std::unique_ptr<Analysis> take() {
    free_.acquire();
    {
      const std::scoped_lock lock(mutex_);
      if (!unused_.empty()) {
        std::unique_ptr<Analysis> analysis = std::move(unused_.back());
        unused_.pop_back();
        return analysis;
      }
    }
    try {
      return std::make_unique<Analysis>();
    } catch (...) {
      free_.release();
      throw;
    }
  }

  void give_back(std::unique_ptr<Analysis> analysis) noexcept {
    {
      const std::scoped_lock lock(mutex_);
      unused_.push_back(std::move(analysis));
    }
    free_.release();
  }

  // The device is the current one, and no analysis is in use.
  void clear() { unused_.clear(); }

 private:
  static constexpr int kMost = 4;

  std::counting_semaphore<kMost> free_{kMost};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Analysis>> unused_;
};

// An analysis for a frame. One that is still being decoded is waited for first, so that it keeps none.
class AnalysisScope : NotCopyable {
 public:
  AnalysisScope(AnalysisPool& pool, const Frame& frame) : pool_(pool), analysis_(take(pool, frame)) {}
  ~AnalysisScope() { pool_.give_back(std::move(analysis_)); }
  Analysis* operator->() const { return analysis_.get(); }
  Analysis& operator*() const { return *analysis_; }

 private:
  static std::unique_ptr<Analysis> take(AnalysisPool& pool, const Frame& frame) {
    if (frame.ready != nullptr) {
      check(cudaEventSynchronize(static_cast<cudaEvent_t>(frame.ready.get())));
    }
    return pool.take();
  }

  AnalysisPool& pool_;
  std::unique_ptr<Analysis> analysis_;
};

class CudaEngine final : public Engine {
 public:
  CudaEngine(int device, std::string name, std::string description)
      : device_(device),
        name_(std::move(name)),
        description_(std::move(description)),
        pool_([device](const auto& format) {
          const DeviceScope scope(device);
          return allocate_pinned_frame(format);
        }) {}

  std::string_view name() const override { return name_; }
  std::string description() const override { return description_; }

  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                          const FrameFormat& format) override {
    validate(filter);
    noise.validate();
    format.validate("frame");
    return std::make_unique<WindowDenoiser>(
        device_, pool_, [&] { return make_filter(filter, format); }, noise, format);
  }

  Frame allocate_frame(const FrameFormat& format) override { return pool_.allocate(format); }
  bool prefers_own_frames() const override { return true; }
  MemoryDomain memory() const override { return cuda_memory(device_); }
  MemoryDomain result_memory() const override { return cuda_memory(device_); }

  Frame in_host_memory(const Frame& frame) override {
    if (frame.memory != memory()) {
      return frame;
    }
    Frame copied = pool_.allocate(frame.format);
    describe_alike(frame, copied);
    const DeviceScope scope(device_);
    const AnalysisScope analysis(analyses_, frame);
    enqueue_and_wait(analysis->stream, [&] {
      const DeviceFrame& samples = upload(frame, analysis->workspace(frame.format).frame, *analysis);
      copy(copied, samples.planes(), cudaMemcpyDeviceToHost, analysis->stream.get());
    });
    return copied;
  }

  NoiseModel estimate_noise(const Frame& frame) override {
    const DeviceScope scope(device_);
    const AnalysisScope analysis(analyses_, frame);
    NoiseModel level;
    enqueue_and_wait(analysis->stream, [&] {
      const DeviceFrame& samples = upload(frame, analysis->workspace(frame.format).frame, *analysis);
      analysis->uploaded.record(analysis->stream);
      level = analysis->noise.estimate(frame.format, samples.planes(), frame.interlaced || frame.combed,
                                       analysis->uploaded);
    });
    return level;
  }

  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                       const noise::SceneRange& range) override {
    return measure(frame, before, range, false);
  }

  noise::ChannelStatistics measure_levels(const Frame& frame, const noise::SceneRange& range) override {
    return measure(frame, nullptr, range, true).channels[0];
  }

  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    if (frame.memory != memory()) {
      return limpid::brightness_histogram(frame);
    }
    const DeviceScope scope(device_);
    const AnalysisScope analysis(analyses_, frame);
    return analysis->noise.brightness_histogram(frame.format, frame.planes[brightness_plane(frame.format)],
                                                frame.padding_bits, ready_event(frame, analysis->decoded));
  }

  float combed_share(const Frame& frame, const Frame& before) override {
    if (frame.memory != memory()) {
      return limpid::combed_share(frame, before);
    }
    const DeviceScope scope(device_);
    const AnalysisScope analysis(analyses_, frame);
    const int plane = comb_plane(frame.format);
    return analysis->noise.combed_share(
        frame.format, frame.planes[plane], before.planes[plane], frame.padding_bits,
        {ready_event(frame, analysis->decoded), ready_event(before, analysis->decoded)});
  }

  ~CudaEngine() override {
    const DeviceScope scope(device_, std::nothrow);
    analyses_.clear();
  }

 private:
  noise::NoiseStatistics measure(const Frame& frame, const Frame* before, const noise::SceneRange& range,
                                 bool levels_only) {
    const DeviceScope scope(device_);
    const AnalysisScope analysis(analyses_, frame);
    noise::NoiseStatistics statistics;
    enqueue_and_wait(analysis->stream, [&] {
      Workspace& work = analysis->workspace(frame.format);
      if (!work.measurer) {
        work.measurer.emplace(frame.format);
      }
      const SamplePlanes& samples = upload(frame, work.frame, *analysis).planes();
      const SamplePlanes* samples_before = nullptr;
      if (before != nullptr) {
        if (!work.before) {
          work.before.emplace(frame.format);
        }
        samples_before = &upload(*before, *work.before, *analysis).planes();
      }
      statistics = work.measurer->measure(samples, samples_before, frame.interlaced || frame.combed, range,
                                          levels_only, analysis->stream.get());
    });
    return statistics;
  }

  // Enqueues the way of a frame's samples to the device, to `to`, which this returns.
  const DeviceFrame& upload(const Frame& frame, const DeviceFrame& to, const Analysis& analysis) const {
    if (frame.memory == memory()) {
      analysis.stream.wait(ready_event(frame, analysis.decoded));
      copy_from_decoder(frame, to.planes(), analysis.stream);
    } else {
      copy(frame, to.planes(), cudaMemcpyHostToDevice, analysis.stream.get());
    }
    return to;
  }

  int device_;
  std::string name_;
  std::string description_;
  FramePool pool_;
  AnalysisPool analyses_;
};

EngineInfo describe_device(int device) {
  EngineInfo info;
  info.name = "cuda:" + std::to_string(device);
  cudaDeviceProp properties{};
  const cudaError_t status = cudaGetDeviceProperties(&properties, device);
  if (status != cudaSuccess) {
    info.description = cudaGetErrorString(status);
    return info;
  }
  info.description = describe(properties);
  info.memory_bytes = properties.totalGlobalMem;
  constexpr int kLeastMajor = 7;
  constexpr int kLeastMinor = 5;
  info.available =
      properties.major > kLeastMajor || (properties.major == kLeastMajor && properties.minor >= kLeastMinor);
  if (!info.available) {
    info.description += ", but 7.5 is the least that the engine supports";
  }
  return info;
}

}  // namespace

// Calls the make_frame_filter() in the folder of each filter.
std::unique_ptr<FrameFilter> make_filter(const Filter& filter, const FrameFormat& format) {
  const auto* const vbm4d = std::get_if<Vbm4dParameters>(&filter);
  if (vbm4d != nullptr && vbm4d->vnlb_share > 0) {
    return make_mixed_filter(*vbm4d, format);
  }
  return std::visit(
      [&](const auto& parameters) -> std::unique_ptr<FrameFilter> {
        return make_frame_filter(parameters, format);
      },
      filter);
}

std::vector<EngineInfo> list_cuda() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    const bool no_driver = status == cudaErrorInsufficientDriver;
    return {{.name = "cuda",
             .description = no_driver
                                ? "no NVIDIA driver for CUDA 13 or later is installed"
                                : std::string("no usable NVIDIA GPU (") + cudaGetErrorString(status) + ")"}};
  }
  std::vector<EngineInfo> engines;
  engines.reserve(count);
  for (int device = 0; device < count; ++device) {
    engines.push_back(describe_device(device));
  }
  return engines;
}

std::shared_ptr<Engine> open_cuda(std::string_view name, const EngineOptions& /*options*/) {
  const std::string_view number = name.substr(name.find(':') + 1);
  int device = 0;
  std::from_chars(number.data(), number.data() + number.size(), device);
  const EngineInfo info = describe_device(device);
  wait_by_sleeping(device);
  return std::make_shared<CudaEngine>(device, info.name, info.description);
}

}  // namespace limpid::cuda
