#include "app/denoise_stage.h"

#include <utility>

namespace limpid::app {

void DenoiseStage::send(Frame frame, const NoiseLevel& level, const Maker& make) {
  timed(counters_.busy_ns, [&] {
    if (!denoiser_) {
      denoiser_ = make(frame, level);
    } else if (level != noise_) {
      denoiser_->set_noise(level);
    }
    noise_ = level;
    sent_.push_back(std::chrono::steady_clock::now());
    denoiser_->send(std::move(frame));
    wants_more_ = false;
  });
}

std::optional<Frame> DenoiseStage::receive() {
  std::optional<Frame> result = timed(counters_.busy_ns, [&] { return denoiser_->receive(); });
  if (result) {
    counters_.latency.add(std::chrono::steady_clock::now() - sent_.front());
    sent_.pop_front();
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

void DenoiseStage::abandon() {
  denoiser_.reset();
  sent_.clear();
  wants_more_ = false;
}

}  // namespace limpid::app
