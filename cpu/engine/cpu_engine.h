// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engine/frame_ring.h"
#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "core/noise/noise_model.h"
#include "cpu/noise/noise.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// A stream of frames through one filter. Results are computed by receive(), in `arena`, so frames whose
/// results are not received cost nothing.
class WindowDenoiser final : public Denoiser {
 public:
  WindowDenoiser(std::shared_ptr<tbb::task_arena> arena, FramePool pool, std::unique_ptr<FrameFilter> filter,
                 const NoiseModel& noise, const FrameFormat& format);

  void set_noise(const NoiseModel& noise) override;
  void set_mix(float mix) override { mix_ = checked_mix(mix); }
  void send(Frame frame) override;
  std::optional<Frame> receive() override;
  void cancel() override;
  void flush() override { ring_.end(); }
  void reset() override;
  Reach reach() const override { return filter_->reach(); }
  std::vector<std::string> warnings() const override { return filter_->warnings(); }

 private:
  struct Kept {
    Frame frame;
    NoiseModel noise;
    float mix = 0;
    std::unique_ptr<FrameState> state;
  };

  Frame filter_window(const FrameRing<Kept>::Window& kept);
  std::unique_ptr<FrameState> take_state();
  void retire(Kept kept);

  std::shared_ptr<tbb::task_arena> arena_;
  FramePool pool_;
  FrameFormat format_;
  std::unique_ptr<FrameFilter> filter_;
  NoiseModel noise_;
  float mix_ = 0;
  std::optional<NoiseModel> noise_of_last_;  // frame that was sent
  FrameRing<Kept> ring_;
  std::vector<std::unique_ptr<FrameState>> idle_states_;
  std::atomic<bool> cancelled_ = false;
  tbb::task_group_context work_;
};

/// The registry's description of the engine "cpu".
EngineInfo describe_cpu();

/// Throws Error if the processor lacks the minimum instruction set of the build.
std::shared_ptr<Engine> open_cpu(const EngineOptions& options);

}  // namespace limpid::cpu
