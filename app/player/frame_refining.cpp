// SPDX-License-Identifier: MIT
#include "app/player/frame_refining.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "core/base/error.h"

namespace limpid::app {

void FrameRefining::run() {
  while (queues_.refining.run()) {
    if (!request_ || request_->superseded.stop_requested()) {
      request_.reset();
      neighbors_.reset();
      queues_.refining.wait();
    } else if (neighbors_) {
      refine();
    } else if (std::chrono::steady_clock::now() < request_->begins_at) {
      queues_.refining.wait(request_->begins_at);
    } else if (!std::exchange(has_asked_, true)) {
      find_neighbors_(*request_);
    } else {
      queues_.refining.wait();
    }
  }
}

void FrameRefining::request(RefiningRequest request) {
  request_ = std::move(request);
  neighbors_.reset();
  has_asked_ = false;
}

void FrameRefining::receive(const PlayedFramePointer& frame, Surroundings neighbors) {
  if (request_ && request_->frame == frame) {
    neighbors_ = std::move(neighbors);
  }
}

void FrameRefining::refine() {
  const RefiningRequest request = *std::exchange(request_, std::nullopt);
  const Surroundings around = *std::exchange(neighbors_, std::nullopt);
  std::shared_ptr<PlayedFrame> refined;
  if (std::optional<Frame> denoised = filter(request, around)) {
    refined = std::make_shared<PlayedFrame>(*request.frame);
    refined->denoised = std::move(*denoised);
    refined->is_refined = true;
  }
  queues_.presentation.put_refined(request.superseded, request.frame, refined);
}

std::optional<Frame> FrameRefining::filter(const RefiningRequest& request, const Surroundings& around) {
  if (around.frames.empty()) {
    return std::nullopt;
  }
  const PlayedFrame& frame = *request.frame;
  try {
    if (frame.settings.same_denoiser(settings_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    settings_ = frame.settings;
    stage_.set_mix(settings_.noise.mix);
    for (std::size_t i = 0; i < around.frames.size(); ++i) {
      Frame each = around.frames[i];
      each.context_only = i != around.current;
      stage_.send(std::move(each), frame.level, [this](const Frame& first, const NoiseModel& noise) {
        return stages_.make_refiner(settings_, first, noise);
      });
    }
    stage_.flush();
    // cancel() has had no effect before the denoiser existed.
    return request.superseded.stop_requested() ? std::nullopt : stage_.receive();
  } catch (const Error& error) {
    // There may be no memory for a second denoiser. Playback continues.
    spdlog::warn(fmt::format("the picture is not refined: {}", error.what()));
    stage_.abandon();
    return std::nullopt;
  }
}

}  // namespace limpid::app
