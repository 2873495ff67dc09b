// SPDX-License-Identifier: MIT
#pragma once

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "app/player/frame_store.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "core/base/error.h"
#include "core/frame/reach.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"
#include "io/media/reader.h"

namespace limpid::app {

/// Finds the noise levels that `limpid denoise` gives to frames of a file, from the frames that they depend
/// on (NoiseControl::grid()), whatever has been played. Not thread-safe.
class FrameLevels {
 public:
  struct Level {
    NoiseEstimate noise;  ///< as estimated or given
    NoiseModel level;     ///< for the filter
  };

  /// `open` opens the file once more. `engine` measures frames and must outlive this object.
  FrameLevels(std::function<FrameSource()> open, Engine& engine, double frames_per_second)
      : open_(std::move(open)), engine_(engine), frames_per_second_(frames_per_second) {}

  /// The levels of `count` successive frames from the one at `time` on. Fewer at the end of the file, or if
  /// given up.
  std::vector<Level> find(double time, std::size_t count, const NoiseSettings& settings,
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

 private:
  // Reading so far takes no longer than a seek.
  static constexpr int kMostRead = 100;
  static constexpr std::size_t kMostKnown = 1000;

  struct Known {
    double time;
    Level level;
  };

  bool can_continue(double time, const NoiseSettings& settings) const {
    return settings == settings_ && !known_.empty() &&
           time > std::max(first_time_, known_.front().time) - 0.5 / frames_per_second_ &&
           time < known_.back().time + kMostRead / frames_per_second_;
  }
  /// Begins with a frame whose number in the file is a multiple of the grid's section.
  void begin(double time, const NoiseSettings& settings, const FrameStore::GivenUp& given_up) {
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
  void send(StoredFrame frame) {
    times_.push_back(frame.time);
    control_->send(std::move(frame.frame));
    while (control_->receive()) {  // the listener has its level
    }
  }

  const std::function<FrameSource()> open_;
  Engine& engine_;
  const double frames_per_second_;
  std::optional<FrameSource> source_;
  NoiseSettings settings_;
  std::optional<NoiseControl> control_;
  bool has_ended_ = false;
  /// The time in seconds from which on levels equal those of a run over the whole file.
  double first_time_ = 0;
  std::deque<double> times_;  ///< times of frames that were sent; their levels are not known yet
  std::deque<Known> known_;   ///< successive frames with their levels
};

/// A copy in ordinary memory: an engine's own memory is scarce.
inline Frame kept_copy(Engine& engine, const Frame& frame) {
  const Frame on_host = engine.in_host_memory(frame);
  return copied(on_host, allocate_frame(on_host.format));
}

/// A request to refine the frame that stays on the screen.
struct RefiningRequest {
  PlayedFramePointer frame;
  Reach reach;  ///< the neighbors that the filter uses
  std::chrono::steady_clock::time_point begins_at;
  std::stop_token superseded;
  std::optional<Region> view;  ///< the part of the stored frame that is filtered before the rest
};

/// Filters the shown frame again, with its neighbors and a second denoiser, as `limpid denoise` does: first
/// the part that is in view, if it is small, and then the whole frame. All members except cancel() belong to
/// the refining thread, which runs them as commands.
class FrameRefining {
 public:
  /// `find_neighbors` sends for the neighbors, which receive() takes.
  FrameRefining(const PlayerStages& stages, const PlayerOptions& options, PlayerQueues& queues,
                std::function<void(const RefiningRequest&)> find_neighbors)
      : stages_(stages), queues_(queues), find_neighbors_(std::move(find_neighbors)), stage_(counters_) {
    if (stages.open_again && stages.engine != nullptr) {
      levels_.emplace(stages.open_again, *stages.engine, options.frames_per_second);
    }
  }

  /// Serves requests until PlayerQueues::refining is closed.
  void run() {
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

  void request(RefiningRequest request) {
    request_ = std::move(request);
    neighbors_.reset();
    has_asked_ = false;
  }
  void receive(const PlayedFramePointer& frame, Surroundings neighbors) {
    if (request_ && request_->frame == frame) {
      neighbors_ = std::move(neighbors);
    }
  }
  /// Frees the memory of the denoiser.
  void release() { stage_.abandon(); }

  /// Ends the work for a superseded request. May be called on any thread.
  void cancel() { stage_.cancel(); }

 private:
  void refine() {
    const RefiningRequest request = *std::exchange(request_, std::nullopt);
    const Surroundings around = *std::exchange(neighbors_, std::nullopt);
    PlayedFramePointer draft = request.frame;
    std::shared_ptr<PlayedFrame> refined;
    try {
      if (!around.frames.empty()) {
        const std::vector<FrameLevels::Level> levels = levels_of(request, around);
        if (const PlayedFramePointer part = refine_view(request, around, levels)) {
          queues_.presentation.put_refined(request.superseded, draft, part);
          draft = part;
        }
        if (std::optional<Frame> denoised = filter(request, around, levels)) {
          refined = std::make_shared<PlayedFrame>(*request.frame);
          refined->denoised = *std::move(denoised);
          refined->noise = levels[around.current].noise;
          refined->level = levels[around.current].level;
          refined->is_refined = true;
        }
      }
    } catch (const Error& error) {
      // There may be no memory for a second denoiser. Playback continues.
      spdlog::warn(fmt::format("the picture is not refined: {}", error.what()));
      stage_.abandon();
    }
    queues_.presentation.put_refined(request.superseded, draft, refined);
  }
  /// The levels that `limpid denoise` has, if they are estimated and the source can be opened again.
  /// Otherwise all frames have the level of the shown one.
  std::vector<FrameLevels::Level> levels_of(const RefiningRequest& request, const Surroundings& around) {
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
  /// The draft with the result in the part that is in view. Null if that part is large, or if there is none.
  PlayedFramePointer refine_view(const RefiningRequest& request, const Surroundings& around,
                                 const std::vector<FrameLevels::Level>& levels) {
    constexpr int kMargin = 64;  // beyond it, no sample changes a result
    constexpr int kGrid = 16;    // of which filters' grids are divisors
    constexpr double kMostShare = 0.5;
    const FrameFormat& format = request.frame->noisy.format;
    const bool has_areas = std::ranges::any_of(
        levels, [](const FrameLevels::Level& each) { return each.level.area.has_value(); });
    if (!request.view || !is_within(*request.view, format) || stages_.engine == nullptr ||
        request.frame->is_waiting || has_areas) {
      return nullptr;
    }
    Region wide = *request.view;
    wide.x = std::max(wide.x - kMargin, 0) / kGrid * kGrid;
    wide.y = std::max(wide.y - kMargin, 0) / kGrid * kGrid;
    wide.width = std::min(request.view->x + request.view->width + kMargin, format.width) - wide.x;
    wide.height = std::min(request.view->y + request.view->height + kMargin, format.height) - wide.y;
    const Frame& noisy = request.frame->noisy;
    wide = whole_samples(wide, format, noisy.interlaced || noisy.combed);
    if (1.0 * wide.width * wide.height > kMostShare * format.width * format.height) {
      return nullptr;
    }
    Surroundings part{.frames = {}, .current = around.current};
    for (const Frame& frame : around.frames) {
      part.frames.push_back(part_of(stages_.engine->in_host_memory(frame), wide));
    }
    const std::optional<Frame> result = filter(request, part, levels);
    if (!result) {
      return nullptr;
    }
    const Region inner = whole_samples(*request.view, format, noisy.interlaced || noisy.combed);
    auto refined = std::make_shared<PlayedFrame>(*request.frame);
    refined->denoised = kept_copy(*stages_.engine, request.frame->denoised);
    refined->refined_part = inner;
    copy_samples(part_of(stages_.engine->in_host_memory(*result),
                         {inner.x - wide.x, inner.y - wide.y, inner.width, inner.height}),
                 part_of(refined->denoised, inner));
    return refined;
  }
  /// The result for the current frame. Nothing if the request is superseded.
  std::optional<Frame> filter(const RefiningRequest& request, const Surroundings& around,
                              const std::vector<FrameLevels::Level>& levels) {
    const PlayerSettings& settings = request.frame->settings;
    if (settings.same_denoiser(settings_) && around.frames.front().format == format_) {
      stage_.reset();
    } else {
      stage_.abandon();
    }
    settings_ = settings;
    format_ = around.frames.front().format;
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
    return request.superseded.stop_requested() ? std::nullopt : stage_.receive();
  }

  const PlayerStages& stages_;
  PlayerQueues& queues_;
  const std::function<void(const RefiningRequest&)> find_neighbors_;
  StageCounters counters_;
  DenoiseStage stage_;
  PlayerSettings settings_;            ///< of `stage_`
  FrameFormat format_;                 ///< of the frames in `stage_`
  std::optional<FrameLevels> levels_;  ///< of a source that can be opened again
  std::optional<RefiningRequest> request_;
  bool has_asked_ = false;  ///< for the neighbors
  std::optional<Surroundings> neighbors_;
};

/// A request to compute the results of a passage.
struct LoopRequest {
  Passage passage;
  PlayerSettings settings;
  Reach reach;  ///< neighbors that the filter uses outside the passage
  std::chrono::steady_clock::time_point begins_at;
  std::stop_token superseded;
};

/// State of a passage that is repeated.
struct LoopStatus {
  enum class State : std::uint8_t {
    kNone,
    kComputing,
    kComplete,
    kTooLong,  ///< for PlayerOptions::loop_bytes
  };
  State state = State::kNone;
  double share = 0;  ///< that is computed, 0 to 1
};

/// Computes the frames of a passage as `limpid denoise` does, with a reader and a denoiser of its own, so
/// that playback continues. Results are in ordinary memory; those of earlier settings are kept while
/// they fit, for users who switch between settings. All members except status() belong to its thread, which
/// runs them as commands.
class LoopRendering {
 public:
  using Deliver = std::function<void(const std::stop_token&, std::shared_ptr<const LoopFrames>)>;

  /// `commands`: of its thread.
  LoopRendering(const PlayerStages& stages, const PlayerOptions& options, CommandQueue& commands,
                Deliver deliver)
      : stages_(stages), options_(options), commands_(commands), deliver_(std::move(deliver)) {}

  /// Serves requests until the commands are closed.
  void run() {
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

  void request(LoopRequest request) {
    request_ = std::move(request);
    set_status({LoopStatus::State::kComputing, 0});
  }
  /// Ends the request and frees all memory.
  void release() {
    request_.reset();
    decoded_.reset();
    kept_.clear();
    set_status({});
  }

  /// May be called on any thread.
  LoopStatus status() const {
    const std::scoped_lock lock(mutex_);
    return status_;
  }

 private:
  /// A passage does not fit into the memory for it.
  struct PassageTooLong {};
  /// Decoded frames of the passage, and those before and behind it that the filter uses.
  struct Decoded {
    Passage passage;
    Reach reach;
    std::vector<StoredFrame> frames;
    std::size_t begin = 0;  ///< index of the first frame of the passage
    std::size_t end = 0;    ///< index behind its last frame
  };

  void render(const LoopRequest& request) {
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
      keep(frames);
      deliver_(request.superseded, frames);
    }
    set_status(end);
  }
  /// Decodes the passage and its neighbors. Nothing if the request is superseded or the passage is empty.
  void decode(const LoopRequest& request) {
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
  std::shared_ptr<const LoopFrames> kept_with(const PlayerSettings& settings) const {
    const auto found = std::ranges::find_if(
        kept_, [&](const auto& kept) { return kept->frames.front()->settings == settings; });
    return found != kept_.end() ? *found : nullptr;
  }
  /// The oldest results make room.
  void keep(const std::shared_ptr<const LoopFrames>& frames) {
    std::erase(kept_, frames);
    kept_.push_back(frames);
    const std::size_t bytes = frame_bytes(frames->frames.front()->denoised.format);
    while (kept_.size() > 1 &&
           bytes * (decoded_->frames.size() + kept_.size() * frames->frames.size()) > options_.loop_bytes) {
      kept_.pop_front();
    }
  }
  /// Returns the levels of the passage and its neighbors; nothing if the request is superseded.
  std::vector<FrameLevels::Level> levels_of(const LoopRequest& request) const {
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
  std::shared_ptr<const LoopFrames> filter(const LoopRequest& request) {
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
    StreamParts parts;
    parts.read = [&]() -> io::Reader::Item {
      if (read == decoded_->frames.size()) {
        return io::Reader::End();
      }
      Frame frame = decoded_->frames[read].frame;
      frame.context_only = read < decoded_->begin || read >= decoded_->end;
      ++read;
      return frame;
    };
    parts.noise = &noise;
    parts.make_denoiser = [&](const Frame& first, const NoiseModel& level) {
      return stages_.make_refiner(request.settings, first, level);
    };
    parts.mix = request.settings.noise.mix;
    parts.write_frame = [&](const Frame& result) {
      frames[filtered++]->denoised = kept_copy(*stages_.engine, result);
      set_status({LoopStatus::State::kComputing,
                  static_cast<double>(filtered) / static_cast<double>(frames.size())});
    };
    StreamCounters counters;
    run_stream(parts, {.abandon = request.superseded}, counters, {});
    return filtered < frames.size()
               ? nullptr
               : std::make_shared<LoopFrames>(LoopFrames{.frames = {frames.begin(), frames.end()},
                                                         .begin = request.passage.begin.value_or(0),
                                                         .end = request.passage.end});
  }
  void set_status(const LoopStatus& status) {
    const std::scoped_lock lock(mutex_);
    status_ = status;
  }

  const PlayerStages& stages_;
  const PlayerOptions& options_;
  CommandQueue& commands_;
  const Deliver deliver_;
  std::optional<LoopRequest> request_;
  std::optional<Decoded> decoded_;
  std::deque<std::shared_ptr<const LoopFrames>> kept_;  ///< results of decoded_, with other settings, too
  mutable std::mutex mutex_;
  LoopStatus status_;
};

}  // namespace limpid::app
