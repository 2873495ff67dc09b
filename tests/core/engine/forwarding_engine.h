// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/frame.h"

namespace limpid::test {

/// Forwards to another denoiser all functions that a test does not override.
class ForwardingDenoiser : public Denoiser {
 public:
  explicit ForwardingDenoiser(std::unique_ptr<Denoiser> denoiser) : denoiser_(std::move(denoiser)) {}
  void set_noise(const NoiseModel& noise) override { denoiser_->set_noise(noise); }
  void set_mix(float mix) override { denoiser_->set_mix(mix); }
  void send(Frame frame) override { denoiser_->send(std::move(frame)); }
  std::optional<Frame> receive() override { return denoiser_->receive(); }
  void flush() override { denoiser_->flush(); }
  std::vector<std::string> warnings() const override { return denoiser_->warnings(); }
  Reach reach() const override { return denoiser_->reach(); }
  void reset() override { denoiser_->reset(); }

 private:
  std::unique_ptr<Denoiser> denoiser_;
};

/// The CPU engine, with denoisers that a test wraps.
class ForwardingEngine : public Engine {
 public:
  using Wrap = std::function<std::unique_ptr<Denoiser>(std::unique_ptr<Denoiser>)>;

  ForwardingEngine(std::string name, Wrap wrap) : name_(std::move(name)), wrap_(std::move(wrap)) {}

  /// Registers such an engine, which commands open by this name.
  static void add_to_registry(const std::string& name, const Wrap& wrap) {
    engine_registry().add(
        name,
        [name] { return std::vector<EngineInfo>{{.name = name, .description = "", .available = true}}; },
        [engine = std::make_shared<ForwardingEngine>(name, wrap)](std::string_view, const EngineOptions&) {
          return engine;
        });
  }

  std::string_view name() const override { return name_; }
  std::string description() const override { return "the CPU engine in a test"; }
  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseModel& noise,
                                          const FrameFormat& format) override {
    std::unique_ptr<Denoiser> denoiser = cpu_->make_denoiser(filter, noise, format);
    return wrap_ ? wrap_(std::move(denoiser)) : std::move(denoiser);
  }
  Frame allocate_frame(const FrameFormat& format) override { return limpid::allocate_frame(format); }
  NoiseModel estimate_noise(const Frame& frame) override { return cpu_->estimate_noise(frame); }
  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                       const noise::SceneRange& range) override {
    return cpu_->measure_noise(frame, before, range);
  }
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    return cpu_->brightness_histogram(frame);
  }
  float combed_share(const Frame& frame, const Frame& before) override {
    return cpu_->combed_share(frame, before);
  }

 private:
  std::string name_;
  Wrap wrap_;
  std::shared_ptr<Engine> cpu_ = engine_registry().open("cpu");
};

}  // namespace limpid::test
