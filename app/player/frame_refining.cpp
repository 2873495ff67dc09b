// SPDX-License-Identifier: MIT
#include "app/player/frame_refining.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "core/base/error.h"

namespace limpid::app {

FrameRefining::FrameRefining(const PlayerStages& stages, const PlayerOptions& options, PlayerQueues& queues,
                             std::function<void(const RefiningRequest&)> find_neighbors)
    : stages_(stages), queues_(queues), find_neighbors_(std::move(find_neighbors)), stage_(counters_) {
  if (stages.open_again && stages.engine != nullptr) {
    levels_.emplace(stages.open_again, *stages.engine, options.frames_per_second);
  }
}

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
  auto refined = std::make_shared<PlayedFrame>(*request.frame);
  if (!filter(request, around, *refined)) {
    refined = nullptr;
  }
  queues_.presentation.put_refined(request.superseded, request.frame, refined);
}

// The levels that `limpid denoise` has, if they are estimated and the source can be opened again. Otherwise
// all frames have the level of the shown one.
std::vector<FrameLevels::Level> FrameRefining::levels_of(const RefiningRequest& request,
                                                         const Surroundings& around) {
  const PlayedFrame& frame = *request.frame;
  std::vector<FrameLevels::Level> levels;
  if (levels_ && !frame.settings.noise.noise) {
    const double first = io::presentation_time(around.frames.front()).value_or(frame.time);
    levels = levels_->find(first, around.frames.size(), frame.settings.noise,
                           [&request] { return request.superseded.stop_requested(); });
  }
  levels.resize(around.frames.size(),
                levels.empty() ? FrameLevels::Level{frame.noise, frame.level} : levels.back());
  return levels;
}

bool FrameRefining::filter(const RefiningRequest& request, const Surroundings& around, PlayedFrame& refined) {
  if (around.frames.empty()) {
    return false;
  }
  try {
    const std::vector<FrameLevels::Level> levels = levels_of(request, around);
    if (refined.settings.same_denoiser(settings_)) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    settings_ = refined.settings;
    stage_.set_mix(settings_.noise.mix);
    for (std::size_t i = 0; i < around.frames.size(); ++i) {
      Frame each = around.frames[i];
      each.context_only = i != around.current;
      stage_.send(std::move(each), levels[i].level, [this](const Frame& first, const NoiseModel& noise) {
        return stages_.make_refiner(settings_, first, noise);
      });
    }
    stage_.flush();
    // cancel() has had no effect before the denoiser existed.
    std::optional<Frame> denoised = request.superseded.stop_requested() ? std::nullopt : stage_.receive();
    if (!denoised) {
      return false;
    }
    refined.denoised = *std::move(denoised);
    refined.noise = levels[around.current].noise;
    refined.level = levels[around.current].level;
    refined.is_refined = true;
    return true;
  } catch (const Error& error) {
    // There may be no memory for a second denoiser. Playback continues.
    spdlog::warn(fmt::format("the picture is not refined: {}", error.what()));
    stage_.abandon();
    return false;
  }
}

}  // namespace limpid::app
