// SPDX-License-Identifier: MIT
#include "cpu/engine/cpu_engine.h"

#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/base/parallel.h"
#include "core/base/thread.h"
#include "core/frame/combing.h"
#include "core/frame/frame_pool.h"
#include "core/noise/noise_model.h"
#include "cpu/bm3d/bm3d.h"
#include "cpu/edge_preserving/edge_preserving.h"
#include "cpu/engine/mixed_filter.h"
#include "cpu/engine/window_denoiser.h"
#include "cpu/noise/noise_estimation.h"
#include "cpu/noise/noise_measurement.h"
#include "cpu/recursive/recursive.h"
#include "cpu/vbm4d/along_motion.h"
#include "cpu/vnlb/patch_groups.h"

namespace limpid::cpu {
namespace {

// The arena of the tasks, shared by the engine and its denoisers, so that these may outlive it.
using Arena = std::shared_ptr<tbb::task_arena>;

// Calls the make_frame_filter() of the filter's folder.
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

// The SIMD code is compiled for SSE4 or better (cpu/CMakeLists.txt).
bool can_run() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return true;
#endif
}

std::string describe(int threads) {
  return processor_name() + ", " + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
         instruction_set();
}

class CpuEngine final : public Engine {
 public:
  /// oneTBB waits for ever in an arena whose first initialization has failed, as it does where memory is
  /// short.
  explicit CpuEngine(int threads) : arena_(std::make_shared<tbb::task_arena>(threads)) {
    arena_->initialize();
  }

  std::string_view name() const override { return "cpu"; }
  std::string description() const override { return describe(arena_->max_concurrency()); }

  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                          const FrameFormat& format) override {
    validate(filter);
    noise.validate();
    format.validate("frame");
    require_workers();
    return std::make_unique<WindowDenoiser>(arena_, pool_, make_filter(filter, format), noise, format);
  }

  Frame allocate_frame(const FrameFormat& format) override { return pool_.allocate(format); }

  NoiseModel estimate_noise(const Frame& frame) override {
    require_workers();
    NoiseModel level;
    run_in(*arena_, [&] { level = cpu::estimate_noise(frame); });
    return level;
  }
  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                       const noise::SceneRange& range) override {
    require_workers();
    noise::NoiseStatistics statistics;
    run_in(*arena_, [&] { statistics = cpu::measure_noise(frame, before, range); });
    return statistics;
  }
  float combed_share(const Frame& frame, const Frame& before) override {
    return limpid::combed_share(frame, before);
  }

 private:
  /// oneTBB has at most as many threads as processors, including the calling one.
  void require_workers() {
    std::call_once(has_workers_, [this] {
      require_threads(std::min(arena_->max_concurrency(), tbb::info::default_concurrency()) - 1);
    });
  }

  Arena arena_;
  FramePool pool_;
  std::once_flag has_workers_;
};

}  // namespace

EngineInfo describe_cpu() {
  if (!can_run()) {
    return {.name = "cpu", .description = "this processor lacks SSE4, which the CPU engine needs"};
  }
  return {.name = "cpu",
          .description = describe(processors()),
          .memory_bytes = physical_memory(),
          .available = true};
}

std::shared_ptr<Engine> open_cpu(const EngineOptions& options) {
  const int threads = options.threads > 0 ? options.threads : processors();
  return std::make_shared<CpuEngine>(threads);
}

}  // namespace limpid::cpu
