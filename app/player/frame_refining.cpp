// SPDX-License-Identifier: MIT

#include "app/player/frame_refining.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/engine/noise_control.h"
#include "io/media/reader.h"

namespace limpid::app {
namespace {

// Reading so far takes no longer than a seek.
constexpr int kMostRead = 100;
constexpr std::size_t kMostKnown = 1000;

}  // namespace

bool FrameLevels::can_continue(double time, const NoiseSettings& settings) const {
  return settings == settings_ && !known_.empty() &&
         time > std::max(first_time_, known_.front().time) - 0.5 / frames_per_second_ &&
         time < known_.back().time + kMostRead / frames_per_second_;
}

// Begins with a frame whose number in the file is a multiple of the grid's section.
void FrameLevels::begin(double time, const NoiseSettings& settings, const FrameStore::GivenUp& given_up) {
  if (!source_) {
    source_ = open_();
  }
  settings_ = settings;
  times_.clear();
  known_.clear();
  control_.emplace(settings, engine_,
                   [this](const NoiseEstimate& noise, const NoiseModel& level, const Frame& /*frame*/) {
                     known_.push_back({times_.front(), {noise, level}});
                     times_.pop_front();
                   });
  const LevelGrid grid = control_->grid();
  const double lead = static_cast<double>(grid.lead()) / frames_per_second_;
  source_->seek(std::max(time - lead, 0.0), 0, given_up, {});
  has_ended_ = true;
  while (std::optional<StoredFrame> frame =
             given_up() ? std::nullopt : next_frame(*source_, frames_per_second_)) {
    if (grid.may_begin(frame->frame.index)) {
      const bool begins_file = frame->frame.index == 0;
      first_time_ =
          begins_file ? frame->time : frame->time + static_cast<double>(grid.before) / frames_per_second_;
      has_ended_ = false;
      return send(std::move(*frame));
    }
  }
}

void FrameLevels::send(StoredFrame frame) {
  times_.push_back(frame.time);
  control_->send(std::move(frame.frame));
  while (control_->receive()) {  // the listener has its level
  }
}

std::vector<FrameLevels::Level> FrameLevels::find(double time, std::size_t count,
                                                  const NoiseSettings& settings,
                                                  const FrameStore::GivenUp& given_up) {
  if (!can_continue(time, settings)) {
    begin(time, settings, given_up);
  }
  const auto first = [this, earliest = time - 0.5 / frames_per_second_] {
    return std::ranges::find_if(known_, [&](const Known& each) { return each.time > earliest; });
  };
  while (!has_ended_ && !given_up() && known_.end() - first() < static_cast<std::ptrdiff_t>(count)) {
    if (std::optional<StoredFrame> frame = next_frame(*source_, frames_per_second_)) {
      send(std::move(*frame));
    } else {
      control_->flush();
      has_ended_ = true;
    }
  }
  std::vector<Level> levels;
  for (auto each = first(); each != known_.end() && levels.size() < count; ++each) {
    levels.push_back(each->level);
  }
  while (known_.size() > kMostKnown) {
    known_.pop_front();
  }
  return levels;
}

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

namespace {

// A passage does not fit into the memory for it.
struct PassageTooLong {};

// A copy in ordinary memory: an engine's own memory is scarce.
Frame kept_copy(Engine& engine, const Frame& frame) {
  const Frame on_host = engine.in_host_memory(frame);
  Frame copy = allocate_frame(on_host.format);
  describe_alike(on_host, copy);
  copy_samples(on_host, copy);
  return copy;
}

}  // namespace

LoopRendering::LoopRendering(const PlayerStages& stages, const PlayerOptions& options, CommandQueue& commands,
                             Deliver deliver)
    : stages_(stages), options_(options), commands_(commands), deliver_(std::move(deliver)) {}

void LoopRendering::run() {
  while (commands_.run()) {
    if (!request_) {
      commands_.wait();
    } else if (request_->superseded.stop_requested()) {
      request_.reset();
    } else if (std::chrono::steady_clock::now() < request_->begins_at) {
      commands_.wait(request_->begins_at);
    } else {
      render(*std::exchange(request_, std::nullopt));
    }
  }
}

void LoopRendering::request(LoopRequest request) {
  request_ = std::move(request);
  set_status({LoopStatus::State::kComputing, 0});
}

void LoopRendering::release() {
  request_.reset();
  decoded_.reset();
  kept_.clear();
  set_status({});
}

LoopStatus LoopRendering::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

void LoopRendering::set_status(const LoopStatus& status) {
  const std::scoped_lock lock(mutex_);
  status_ = status;
}

void LoopRendering::render(const LoopRequest& request) {
  LoopStatus end{LoopStatus::State::kNone, 0};
  std::shared_ptr<const LoopFrames> frames;
  try {
    if (!decoded_ || decoded_->passage != request.passage || decoded_->reach != request.reach) {
      decode(request);
    }
    frames = decoded_ ? kept_with(request.settings) : nullptr;
    if (decoded_ && frames == nullptr) {
      frames = filter(request);
    }
  } catch (const PassageTooLong&) {
    spdlog::info("the repeated passage does not fit into --loop-memory: each round is denoised again");
    end.state = LoopStatus::State::kTooLong;
  } catch (const Error& error) {  // playback continues
    spdlog::warn(fmt::format("the repeated passage is not kept: {}", error.what()));
  }
  if (request.superseded.stop_requested()) {
    return;
  }
  if (frames == nullptr) {
    decoded_.reset();
    kept_.clear();
  } else {
    end = {LoopStatus::State::kComplete, 1};
    spdlog::debug(fmt::format("loop: {} frames are complete", frames->frames.size()));
    keep(frames);
    deliver_(request.superseded, frames);
  }
  set_status(end);
}

std::shared_ptr<const LoopFrames> LoopRendering::kept_with(const PlayerSettings& settings) const {
  const auto found = std::ranges::find_if(
      kept_, [&](const auto& kept) { return kept->frames.front()->settings == settings; });
  return found != kept_.end() ? *found : nullptr;
}

// The oldest results make room.
void LoopRendering::keep(const std::shared_ptr<const LoopFrames>& frames) {
  std::erase(kept_, frames);
  kept_.push_back(frames);
  const std::size_t bytes = frame_bytes(frames->frames.front()->denoised.format);
  while (kept_.size() > 1 &&
         bytes * (decoded_->frames.size() + kept_.size() * frames->frames.size()) > options_.loop_bytes) {
    kept_.pop_front();
  }
}

// Decodes the passage and its neighbors. Nothing if the request is superseded or the passage is empty.
void LoopRendering::decode(const LoopRequest& request) {
  decoded_.reset();
  kept_.clear();
  Decoded decoded{.passage = request.passage, .reach = request.reach, .frames = {}};
  const FrameSource source = stages_.open_again();
  const auto given_up = [&request] { return request.superseded.stop_requested(); };
  const auto before = static_cast<std::size_t>(request.reach.before);
  const double begin = request.passage.begin.value_or(0);
  if (begin > 0) {
    source.seek(begin, static_cast<double>(2 * before + 1) / options_.frames_per_second, given_up, {});
  }
  std::size_t behind = 0;
  while (std::optional<StoredFrame> frame =
             given_up() ? std::nullopt : next_frame(source, options_.frames_per_second)) {
    const bool is_before = frame->time < begin - kSameInstant;
    const bool is_behind = request.passage.end && frame->time >= *request.passage.end;
    const std::size_t bytes = frame_bytes(frame->frame.format);
    if (is_behind && behind++ == static_cast<std::size_t>(request.reach.after)) {
      break;
    }
    decoded.frames.push_back(std::move(*frame));
    decoded.begin += is_before ? 1 : 0;
    decoded.end += is_behind ? 0 : 1;
    if (decoded.begin > before) {
      decoded.frames.erase(decoded.frames.begin());
      --decoded.begin;
      --decoded.end;
    }
    if (bytes * (decoded.frames.size() + decoded.end - decoded.begin) > options_.loop_bytes) {
      throw PassageTooLong();
    }
  }
  if (!given_up() && decoded.end > decoded.begin) {
    decoded_ = std::move(decoded);
  }
}

// Of the passage and its neighbors; nothing if the request is superseded.
std::vector<FrameLevels::Level> LoopRendering::levels_of(const LoopRequest& request) const {
  const NoiseSettings& settings = request.settings.noise;
  std::vector<FrameLevels::Level> levels;
  if (settings.noise) {
    NoiseControl given(settings, *stages_.engine);
    for (const StoredFrame& each : decoded_->frames) {
      const NoiseModel level = given.level_for(each.frame);
      levels.push_back({given.found(), level});
    }
    return levels;
  }
  FrameLevels finder(stages_.open_again, *stages_.engine, options_.frames_per_second);
  levels = finder.find(decoded_->frames.front().time, decoded_->frames.size(), settings,
                       [&request] { return request.superseded.stop_requested(); });
  if (!levels.empty()) {
    levels.resize(decoded_->frames.size(), levels.back());
  }
  return levels;
}

std::shared_ptr<const LoopFrames> LoopRendering::filter(const LoopRequest& request) {
  const std::vector<FrameLevels::Level> levels = levels_of(request);
  if (levels.empty()) {
    return nullptr;
  }
  std::vector<std::shared_ptr<PlayedFrame>> frames;  // of the passage
  for (std::size_t i = decoded_->begin; i < decoded_->end; ++i) {
    auto frame = std::make_shared<PlayedFrame>();
    frame->noisy = decoded_->frames[i].frame;
    frame->settings = frame->used = request.settings;
    frame->used.looks_ahead = true;
    frame->time = decoded_->frames[i].time;
    frame->is_refined = true;
    frame->noise = levels[i].noise;
    frame->level = levels[i].level;
    frames.push_back(std::move(frame));
  }
  std::size_t read = 0;
  std::size_t leveled = 0;
  std::size_t filtered = 0;
  GivenLevels noise([&](const Frame& /*frame*/) { return levels[leveled++].level; });
  PipelineStages stages;
  stages.read = [&]() -> io::Reader::Item {
    if (read == decoded_->frames.size()) {
      return io::Reader::End();
    }
    Frame frame = decoded_->frames[read].frame;
    frame.context_only = read < decoded_->begin || read >= decoded_->end;
    ++read;
    return frame;
  };
  stages.noise = &noise;
  stages.make_denoiser = [&](const Frame& first, const NoiseModel& level) {
    return stages_.make_renderer(request.settings, first, level);
  };
  stages.mix = request.settings.noise.mix;
  stages.write_frame = [&](const Frame& result) {
    frames[filtered++]->denoised = kept_copy(*stages_.engine, result);
    set_status(
        {LoopStatus::State::kComputing, static_cast<double>(filtered) / static_cast<double>(frames.size())});
  };
  PipelineCounters counters;
  run_pipeline(stages, {.abandon = request.superseded}, counters, {});
  return filtered < frames.size()
             ? nullptr
             : std::make_shared<LoopFrames>(LoopFrames{.frames = {frames.begin(), frames.end()},
                                                       .begin = request.passage.begin.value_or(0)});
}

}  // namespace limpid::app
