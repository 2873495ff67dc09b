// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"

namespace limpid::app {

/// Hands on so many frames; is never done with the next unless it is told to end.
class NeverDone final : public Denoiser {
 public:
  explicit NeverDone(std::atomic<int>& begun, int frames = 0) : begun_(begun), frames_(frames) {}
  void set_noise(const NoiseModel& /*noise*/) override {}
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override { frame_ = std::move(frame); }
  std::optional<Frame> receive() override {
    if (frames_ > 0) {
      --frames_;
      return std::exchange(frame_, std::nullopt);
    }
    ++begun_;
    cancelled_.wait(false);
    return std::nullopt;
  }
  void cancel() override {
    cancelled_ = true;
    cancelled_.notify_all();
  }
  void flush() override {}
  std::vector<std::string> warnings() const override { return {}; }
  void reset() override {
    frame_.reset();
    cancelled_ = false;
  }

 private:
  std::atomic<int>& begun_;
  int frames_;
  std::optional<Frame> frame_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace limpid::app
