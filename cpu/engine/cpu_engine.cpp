// SPDX-License-Identifier: MIT
#include "cpu/engine/cpu_engine.h"

#include <tbb/info.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/system.h"
#include "core/base/thread.h"
#include "core/frame/combing.h"
#include "core/frame/mixing.h"
#include "core/frame/reach.h"
#include "cpu/bm3d/tile.h"
#include "cpu/engine/mixed_filter.h"
#include "cpu/runtime/convert.h"

namespace limpid::cpu {
namespace {

// Mixes the noisy samples into the color planes of `out`, the estimate of `noisy`.
void mix_in(const Frame& noisy, float mix, Frame& out) {
  constexpr int kRowsOfTask = 32;
  for (int p = 0; mix > 0 && p < out.format.color_plane_count(); ++p) {
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for_each_index(to.height, kRowsOfTask, [&](int y) {
      visit_samples(out.format, [&]<typename Sample>(Sample) {
        const auto* const in = from.row<const Sample>(y);
        auto* const estimate = to.row<Sample>(y);
        for (int x = 0; x < to.width; ++x) {
          estimate[x] = mixed(in[x], estimate[x], mix);
        }
      });
    });
  }
}

// Copies the noisy samples outside `area` into the color planes of `out`.
void pass_outside(const Frame& noisy, const Region& area, Frame& out) {
  const auto bytes = std::ptrdiff_t{out.format.bytes_per_sample()};
  for (int p = 0; p < out.format.color_plane_count(); ++p) {
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for (const Region& part : parts_outside(area, out.format, p)) {
      for (int y = part.y; y < part.y + part.height; ++y) {
        std::memcpy(to.data + y * to.stride + part.x * bytes, from.data + y * from.stride + part.x * bytes,
                    static_cast<std::size_t>(part.width * bytes));
      }
    }
  }
}

}  // namespace

WindowDenoiser::WindowDenoiser(std::shared_ptr<tbb::task_arena> arena, FramePool pool,
                               std::unique_ptr<FrameFilter> filter, const NoiseModel& noise,
                               const FrameFormat& format)
    : arena_(std::move(arena)),
      pool_(std::move(pool)),
      format_(format),
      filter_(std::move(filter)),
      ring_(filter_->reach()) {
  set_noise(noise);
}

void WindowDenoiser::set_noise(const NoiseModel& noise) {
  noise.validate();
  noise_ = noise;
}

void WindowDenoiser::send(Frame frame) {
  if (frame.format != format_) {
    throw Error("frame " + std::to_string(frame.index) + " is " + to_string(frame.format) +
                ", but the filter was set up for " + to_string(format_));
  }
  if (!frame.memory.is_host()) {
    throw Error("frame " + std::to_string(frame.index) +
                " is in a GPU's memory, which the CPU engine can't read");
  }
  const bool begins_anew =
      frame.begins_anew || !have_like_levels(noise_, noise_of_last_.value_or(noise_), kMostFactorInWindow);
  noise_of_last_ = noise_;
  const bool context_only = frame.context_only;
  ring_.push({std::move(frame), noise_, mix_, take_state()}, begins_anew, context_only);
  // In a stream of context only, no result releases frames.
  ring_.retire([this](Kept old) { retire(std::move(old)); });
}

std::optional<Frame> WindowDenoiser::receive() {
  while (!cancelled_ && ring_.has_next()) {
    const auto kept = ring_.next();
    Frame out = filter_window(kept);
    ring_.retire([this](Kept old) { retire(std::move(old)); });
    if (kept.wanted && !cancelled_) {
      return out;
    }
  }
  return std::nullopt;
}

Frame WindowDenoiser::filter_window(const FrameRing<Kept>::Window& kept) {
  FilterWindow window;
  for (const Kept* each : kept.frames) {
    window.frames.push_back({&each->frame, each->noise, each->state.get()});
  }
  window.current = kept.current;
  window.wanted = kept.wanted;
  Frame out = pool_.allocate(format_);
  pass_on(*window.frames[window.current].frame, out);
  run_in(*arena_, [&] {
    tbb::task_group group(work_);
    group.run_and_wait([&] {
      filter_->filter_window(window, out);
      const FilteredFrame& current = window.frames[window.current];
      if (filter_->estimates_means()) {
        undo_clipping(*current.frame, current.noise, out);
      }
      mix_in(*current.frame, kept.frames[window.current]->mix, out);
      if (current.noise.area) {
        pass_outside(*current.frame, *current.noise.area, out);
      }
      pass_unusable_samples(*current.frame, out);
    });
  });
  if (!cancelled_) {
    for (Kept* each : kept.frames) {
      if (each->state != nullptr && filter_->is_done(*each->state)) {
        each->frame.samples.reset();
        each->frame.attachment.reset();
      }
    }
  }
  return out;
}

void WindowDenoiser::cancel() {
  cancelled_ = true;
  work_.cancel_group_execution();  // tasks that have not begun are skipped
}

void WindowDenoiser::reset() {
  ring_.reset([this](Kept old) { retire(std::move(old)); });
  filter_->forget();
  noise_of_last_.reset();
  work_.reset();
  cancelled_ = false;
}

std::unique_ptr<FrameState> WindowDenoiser::take_state() {
  if (idle_states_.empty()) {
    return filter_->make_state();
  }
  std::unique_ptr<FrameState> state = std::move(idle_states_.back());
  idle_states_.pop_back();
  filter_->renew(*state);
  return state;
}

void WindowDenoiser::retire(Kept kept) {
  if (kept.state != nullptr) {
    idle_states_.push_back(std::move(kept.state));
  }
}

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
