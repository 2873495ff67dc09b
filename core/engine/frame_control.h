// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "core/engine/field_control.h"
#include "core/engine/leveler.h"
#include "core/engine/noise_control.h"

namespace limpid {

/// Selects the frames of a stream that are filtered by field (FieldControl), and gives each frame its noise
/// level (NoiseControl).
class FrameControl final : public Leveler {
 public:
  /// `reach`: the reach of the filter. `engine` reads the frames and must outlive this object.
  FrameControl(const NoiseSettings& noise, FieldChoice fields, const Reach& reach, Engine& engine,
               NoiseControl::Listener listener = {}, Latency latency = Latency::kLookAhead)
      : engine_(engine), listener_(std::move(listener)), latency_(latency), fields_(fields, reach, engine) {
    begin(noise);
  }

  void send(Frame frame) override {
    fields_.decide(frame);
    noise_->send(std::move(frame));
  }
  std::optional<LeveledFrame> receive() override { return noise_->receive(); }
  void flush() override { noise_->flush(); }
  bool is_estimated() const override { return noise_->is_estimated(); }

  const NoiseControl& noise() const { return *noise_; }

  /// Sets the noise of later frames. If `noise` is given and was estimated, or the reverse, no frame may be
  /// waiting for its level.
  void set_noise(const NoiseSettings& noise) {
    if (noise.noise.has_value() == settings_.noise.has_value()) {
      settings_ = noise;
      noise_->set(noise);
    } else {
      begin(noise);
    }
  }
  /// Drops the frames without a level and begins a new stream.
  void reset() {
    fields_.reset();
    begin(settings_);
  }

 private:
  void begin(const NoiseSettings& noise) {
    settings_ = noise;
    noise_.emplace(settings_, engine_, listener_, latency_);
  }

  Engine& engine_;
  NoiseControl::Listener listener_;
  Latency latency_;
  NoiseSettings settings_;
  FieldControl fields_;
  std::optional<NoiseControl> noise_;
};

}  // namespace limpid
