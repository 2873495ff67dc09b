// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/player/frame_store.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"
#include "core/settings/filter_settings.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"

namespace limpid::app {

/// Times of a source that differ by less are equal: containers round times.
inline constexpr double kSameInstant = 0.0005;

/// A part of a source, in seconds from its beginning.
struct Passage {
  std::optional<double> begin;
  std::optional<double> end;
  bool operator==(const Passage&) const = default;
};

/// How frames are denoised.
struct PlayerSettings {
  /// Has a name and a profile. The profile and the parameters may be those of other filters, which are chosen
  /// again later (filter_settings()).
  FilterSettings filter;
  NoiseSettings noise;
  /// A quicker filter is used where this one does not keep pace (PlayerStages::ladder).
  bool keeps_pace = false;
  /// The filter waits for later frames, as it does for files.
  bool looks_ahead = false;

  bool operator==(const PlayerSettings&) const = default;
  /// True if one denoiser serves both: they differ only in the noise level.
  bool same_denoiser(const PlayerSettings& other) const {
    return filter == other.filter && looks_ahead == other.looks_ahead;
  }
};

/// The filter with its profile and its own parameters.
inline FilterSettings filter_settings(const PlayerSettings& settings) {
  FilterSettings filter = settings.filter;
  const FilterType& type = filter_type(filter.name);
  if (type.profiles.empty()) {
    filter.profile.reset();
  }
  std::erase_if(filter.parameters,
                [&](const auto& parameter) { return find_parameter(type, parameter.first) == nullptr; });
  return filter;
}
/// The filter of files. Throws UsageError for settings that contradict each other.
inline Filter offline_filter(const PlayerSettings& settings) {
  return make_filter(filter_settings(settings), false, "--");
}
/// The filter of live video, which waits for no later frames unless a delay is set. Throws UsageError as
/// offline_filter() does.
inline Filter live_filter(const PlayerSettings& settings) {
  return make_filter(live(filter_settings(settings), false, 0), false, "--");
}

/// One of the qualities that a player chooses from.
struct QualityRung {
  PlayerSettings settings;
  double cost = 1;                     ///< a low estimate of its time per frame, relative to other rungs
  Reach reach;                         ///< of its filter
  std::optional<double> seconds = {};  ///< its time per frame, if measured in an earlier run
};

/// Rungs from the quickest to the best one; at least one.
struct QualityLadder {
  std::vector<QualityRung> rungs;
  /// The rung that a stream begins with if no speed is known, and after a seek; its filter waits for no later
  /// frames.
  std::size_t first = 0;
};

/// A frame before and after denoising, and its properties.
struct PlayedFrame {
  using Clock = std::chrono::steady_clock;

  Frame noisy;
  Frame denoised;
  PlayerSettings settings;  ///< requested settings
  PlayerSettings used;      ///< the rung of these settings that denoised the frame
  NoiseModel level;
  NoiseEstimate noise;         ///< as estimated or given, without the strength
  double time = 0;             ///< seconds, in the source
  std::uint64_t sequence = 0;  ///< number in reading order, across seeks
  Clock::time_point decoded_at;
  Clock::time_point sent_at;    ///< to the denoiser
  bool source_is_late = false;  ///< the source cannot keep up, so the clock waits for it
  bool is_waiting = false;      ///< `denoised` is still to come
  bool is_refined = false;      ///< denoised by PlayerStages::make_refiner
  bool is_glimpse = false;      ///< the key frame before the requested frame
  /// Part of the stored frame that is refined already, while the rest is not.
  std::optional<Region> refined_part = {};
};
using PlayedFramePointer = std::shared_ptr<const PlayedFrame>;

/// The parts that a Player connects. Each is called on one thread only. An exception ends the player.
/// Those of FrameSource belong to the reading thread.
struct PlayerStages : FrameSource {
  std::function<std::unique_ptr<Denoiser>(const PlayerSettings&, const Frame&, const NoiseModel&)>
      make_denoiser;
  /// The rungs that may replace settings that keep pace. May be empty: the settings are the only rung.
  std::function<QualityLadder(const PlayerSettings&)> ladder;
  /// Receives the time per frame of rungs, in seconds. May be empty.
  std::function<void(const PlayerSettings&, double)> measured;
  /// Numbers of frames before and after a paused frame that its refinement uses; none if refinement would not
  /// improve the frame. Empty if frames are never refined.
  std::function<Reach(const PlayerSettings&)> refining_reach;
  /// The same denoiser, but one that waits for later frames, as for files. On two threads.
  std::function<std::unique_ptr<Denoiser>(const PlayerSettings&, const Frame&, const NoiseModel&)>
      make_refiner;
  /// Opens the source once more, for the frames of a passage that is repeated. Empty if it can be opened once
  /// only. On a thread of its own.
  std::function<FrameSource()> open_again;
  std::shared_ptr<Engine> engine;  ///< estimates the noise if requested
  /// Receives every frame that has been denoised during playback, in order. May be empty.
  std::function<void(const PlayedFrame&)> denoised;
  /// Reports to the thread that shows the frames that something is new.
  std::function<void()> wake;
};

struct PlayerOptions {
  /// A live source has no clock to wait for: the newest of the waiting frames counts, the others are dropped.
  bool live = false;
  double frames_per_second = 25;  ///< of the source, at least roughly
  double duration = 0;            ///< limit of seeks in seconds; 0 if not known
  double most_load = 1;           ///< share of the time for denoising, by which the quality is chosen
  PlayerSettings settings;
  /// Memory for decoded frames, so that steps back need no decoding. At most some hundred frames, and half as
  /// many again while more are decoded.
  std::size_t kept_bytes = std::size_t{256} << 20;
  /// Limit of the memory for the frames and results of a passage that is repeated.
  std::size_t loop_bytes = std::size_t{1} << 30;
};

/// Measurements of a playing Player.
struct PlayerCounters {
  StageCounters read;
  StageCounters denoise;
  std::atomic<std::int64_t> dropped_before = 0;  ///< too late to be decoded or denoised
  std::atomic<std::int64_t> dropped_after = 0;   ///< denoised, but the next frame was due
  std::atomic<std::int64_t> shown = 0;
};

/// The frames of a passage that is repeated, with their results. Constant once it is shared.
struct LoopFrames {
  std::vector<PlayedFramePointer> frames;  ///< at least one
  double begin = 0;                        ///< of the passage; its first frame may be later
  std::optional<double> end = {};          ///< of the passage; nothing: of the source
};

/// A reading position in LoopFrames, or none: frames are then read from the source. Not thread-safe.
class LoopPosition {
 public:
  /// Sets the frames to read: the passage with other results. Null ends reading from memory.
  void set_frames(std::shared_ptr<const LoopFrames> frames) {
    frames_ = std::move(frames);
    if (frames_ == nullptr || (next_ && *next_ > frames_->frames.size())) {
      next_.reset();
    }
  }
  /// Moves the position to the target. False if the frames do not have it; the position is then none.
  bool find(const SeekTarget& target) {
    next_.reset();
    if (frames_ == nullptr) {
      return false;
    }
    const double end = target.before ? target.time - kSameInstant : target.time + kSameInstant;
    const auto& frames = frames_->frames;
    const auto behind =
        std::ranges::find_if(frames, [&](const PlayedFramePointer& frame) { return frame->time > end; });
    if ((behind == frames.begin() && end < frames_->begin) || (frames_->end && end >= *frames_->end)) {
      return false;
    }
    next_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::distance(frames.begin(), behind), 1)) - 1;
    return true;
  }
  bool exists() const { return next_.has_value(); }
  /// Ends the repetition if the position is at the end of the passage and the source has later frames.
  /// Returns the time at which playback continues; nothing otherwise.
  std::optional<double> leave() {
    const bool is_over = next_ && *next_ == frames_->frames.size() && frames_->end;
    return is_over ? (next_.reset(), frames_->end) : std::nullopt;
  }
  /// The frame at the position, which moves on; null at the end.
  PlayedFramePointer next() {
    return *next_ < frames_->frames.size() ? frames_->frames[(*next_)++] : nullptr;
  }

 private:
  std::shared_ptr<const LoopFrames> frames_;
  std::optional<std::size_t> next_;
};

}  // namespace limpid::app
