// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"
#include "tests/core/engine/temporal_suite.h"
#include "tests/cuda/engine/mean.h"

namespace limpid::cuda {

/// Enqueues a Mean to a device's stream.
using MeanLauncher = std::function<void(const Mean&, cudaStream_t)>;

/// The temporal filter of tests/core/engine/temporal_suite.h. Basic estimates are stored with their frames.
class TwoStepMean final : public FrameFilter {
 public:
  struct Counts {
    std::atomic<int> states = 0;  ///< number made
    std::atomic<int> basics = 0;  ///< number computed
  };
  TwoStepMean(Counts& counts, MeanLauncher launch)
      : FrameFilter(temporal::format()), counts_(counts), launch_(std::move(launch)) {}

  Reach reach() const override { return temporal::kReach; }
  std::size_t memory() const override { return 0; }

  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override {
    const std::size_t t = window.current;
    const std::size_t last = std::min(t + 1, window.frames.size() - 1);
    for (std::size_t i = t - std::min<std::size_t>(t, 1); i <= last; ++i) {
      prepare(window, i, stream);
    }
    enqueue_mean(
        window, t, [&](std::size_t i) { return state_of(window, i).basic.as<std::uint8_t>(); }, kBasicStride,
        reinterpret_cast<std::uint8_t*>(out[0].data), out[0].stride, 0, stream);
  }

  std::unique_ptr<FrameState> make_state() override {
    ++counts_.states;
    auto state = std::make_unique<State>();
    state->basic = DeviceMemory(static_cast<std::size_t>(kBasicStride) * temporal::format().height);
    return state;
  }
  void renew(FrameState& state) override { static_cast<State&>(state).has_basic = false; }

 private:
  static constexpr std::ptrdiff_t kBasicStride = 32;
  struct State final : FrameState {
    DeviceMemory basic;
    bool has_basic = false;
  };

  static State& state_of(const FilterWindow& window, std::size_t i) {
    return static_cast<State&>(*window.frames[i].state);
  }

  template <typename Input>
  void enqueue_mean(const FilterWindow& window, std::size_t t, const Input& input, std::ptrdiff_t in_stride,
                    std::uint8_t* out, std::ptrdiff_t out_stride, int add, cudaStream_t stream) {
    Mean mean{.in_stride = in_stride,
              .out = out,
              .out_stride = out_stride,
              .width = format_.width,
              .height = format_.height,
              .add = add};
    for (std::size_t i = 0; i < 3; ++i) {
      if (t + i >= 1 && t + i - 1 < window.frames.size()) {
        mean.in[i] = input(t + i - 1);
      }
    }
    launch_(mean, stream);
  }

  void prepare(const FilterWindow& window, std::size_t t, cudaStream_t stream) {
    State& state = state_of(window, t);
    if (state.has_basic) {
      return;
    }
    ++counts_.basics;
    state.has_basic = true;
    enqueue_mean(
        window, t,
        [&](std::size_t i) { return reinterpret_cast<const std::uint8_t*>(window.frames[i].planes[0].data); },
        window.frames[t].planes[0].stride, state.basic.as<std::uint8_t>(), kBasicStride,
        static_cast<int>(window.frames[t].noise.sigma[0]), stream);
  }

  Counts& counts_;
  MeanLauncher launch_;
};

}  // namespace limpid::cuda
