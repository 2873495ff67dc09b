// SPDX-License-Identifier: MIT
#include "app/pipeline/denoise_stage.h"

#include <utility>

namespace limpid::app {

void DenoiseStage::own(std::unique_ptr<Denoiser> denoiser) {
  if (denoiser != nullptr && ready_) {
    denoiser->set_ready_listener(ready_);
  }
  const std::scoped_lock lock(mutex_);
  denoiser_.swap(denoiser);
}

// Context frames have no results.
void DenoiseStage::forget_context() {
  while (!sent_.empty() && sent_.front().context_only) {
    sent_.pop_front();
  }
}

void DenoiseStage::set_mix(float mix) {
  mix_ = mix;
  if (denoiser_) {
    denoiser_->set_mix(mix_);
  }
}

void DenoiseStage::send(Frame frame, const NoiseModel& level, const Maker& make) {
  timed(counters_.busy_ns, [&] {
    if (!denoiser_) {
      own(make(frame, level));
      denoiser_->set_mix(mix_);
    } else if (level != noise_) {
      denoiser_->set_noise(level);
    }
    noise_ = level;
    sent_.push_back({std::chrono::steady_clock::now(), frame.context_only});
    forget_context();
    denoiser_->send(std::move(frame));
    wants_more_ = false;
  });
}

std::optional<Frame> DenoiseStage::receive() {
  const auto at_work = [this](bool is) {
    const std::scoped_lock lock(mutex_);
    at_work_since_ = is ? std::optional(std::chrono::steady_clock::now()) : std::nullopt;
  };
  at_work(true);
  std::optional<Frame> result = timed(counters_.busy_ns, [&] { return denoiser_->receive(); });
  at_work(false);
  if (result) {
    counters_.latency.add(std::chrono::steady_clock::now() - sent_.front().at);
    sent_.pop_front();
    forget_context();
    ++counters_.frames;
  } else {
    wants_more_ = true;
  }
  return result;
}

void DenoiseStage::flush() {
  if (denoiser_) {
    timed(counters_.busy_ns, [&] { denoiser_->flush(); });
  }
}

void DenoiseStage::reset() {
  if (denoiser_) {
    denoiser_->reset();
  }
  sent_.clear();
  wants_more_ = false;
}

void DenoiseStage::abandon() {
  own(nullptr);
  sent_.clear();
  wants_more_ = false;
}

void DenoiseStage::cancel() {
  const std::scoped_lock lock(mutex_);
  if (denoiser_) {
    denoiser_->cancel();
  }
}

std::optional<std::chrono::steady_clock::time_point> DenoiseStage::at_work_since() const {
  const std::scoped_lock lock(mutex_);
  return at_work_since_;
}

}  // namespace limpid::app
