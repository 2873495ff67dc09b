// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/pipeline/denoise_stage.h"
#include "app/pipeline/stage_counters.h"
#include "app/player/frame_store.h"
#include "app/player/pacing.h"
#include "app/player/player_settings.h"
#include "app/player/refinement.h"
#include "core/engine/denoiser.h"
#include "core/engine/noise_control.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"
#include "io/media/reader.h"

namespace limpid::app {

/// A frame before and after, and what it is known by.
struct PlayedFrame {
  using Clock = std::chrono::steady_clock;

  Frame noisy;
  Frame denoised;
  PlayerSettings settings;  ///< that were asked for
  PlayerSettings used;      ///< the rung of them that it was denoised with
  NoiseModel level;
  NoiseEstimate noise;         ///< as estimated or given, without the strength
  double time = 0;             ///< seconds, in the source
  std::uint64_t sequence = 0;  ///< counts the frames read, across seeks
  Clock::time_point decoded_at;
  Clock::time_point sent_at;    ///< to the denoiser
  bool source_is_late = false;  ///< the source can't keep up, so the clock waits for it
  bool is_waiting = false;  ///< it is with the denoiser: `denoised` and what it was denoised with are to come
  bool is_refined = false;  ///< as PlayerStages::make_refiner says
  bool is_glimpse = false;  ///< it is not the frame that was requested, but the key frame before it
};

/// The parts that a Player connects. Each is called on one thread only. An exception ends the player.
struct PlayerStages {
  /// The source: frames and End; packets are passed over.
  std::function<io::Reader::Item()> read;
  /// Goes to a time, as io::Reader::seek() does; empty if the source can't. On the same thread as read().
  std::function<void(double seconds, double before, const std::function<bool()>& given_up,
                     const std::function<void(Frame)>& glimpse)>
      seek;
  std::function<std::unique_ptr<Denoiser>(const PlayerSettings&, const Frame&, const NoiseModel&)>
      make_denoiser;
  /// The rungs that may replace settings that keep pace. May be empty: the settings are the only rung.
  std::function<QualityLadder(const PlayerSettings&)> ladder;
  /// Numbers of frames before and after a paused frame that its refinement uses; none if refinement would not
  /// improve the frame. Empty if frames are never refined.
  std::function<Reach(const PlayerSettings&)> refining_reach;
  /// The same denoiser, but one that waits for later frames. On a thread of its own.
  std::function<std::unique_ptr<Denoiser>(const PlayerSettings&, const Frame&, const NoiseModel&)>
      make_refiner;
  std::shared_ptr<Engine> engine;  ///< estimates the noise if requested
  /// Sees every frame that has been denoised while playing, in order. May be empty.
  std::function<void(const PlayedFrame&)> denoised;
  /// Tells the thread that shows the frames that there is something new.
  std::function<void()> wake;
};

struct PlayerOptions {
  /// A live source has no clock to wait for: of the frames that wait the newest counts, the others are
  /// dropped.
  bool live = false;
  double frames_per_second = 25;  ///< of the source; a guess will do
  double duration = 0;            ///< seconds; seeks stay within it. 0 if not known
  PlayerSettings settings;
  /// Memory for decoded frames, so that steps back need no decoding. At most some hundred frames, and half as
  /// many again while more are decoded.
  std::size_t kept_bytes = std::size_t{256} << 20;
};

/// Measurements of a playing Player.
struct PlayerCounters {
  StageCounters read;
  StageCounters denoise;
  std::atomic<std::int64_t> dropped_before = 0;  ///< too late to be worth denoising
  std::atomic<std::int64_t> dropped_after = 0;   ///< denoised, but the next one was due
  std::atomic<std::int64_t> shown = 0;
};

/// Plays a source through a denoiser in real time.
///
///     reader thread ─► decoded ─► denoise thread ─► ready ─► take()
///
/// A frame is due when the clock reaches its time. Frames that cannot be ready before their successor is due
/// are dropped before they are denoised. A ready frame whose successor is due is dropped even if no frames
/// are taken, so a window that does not draw delays nothing. There are only a few frames between denoising
/// and the screen, so that changed settings show within two frames. While paused, the shown frame and those
/// after it are denoised again. If the source is too slow, the clock waits for it. A live source has no
/// clock: each stage takes the newest frame and drops the others.
///
/// While paused, or at the end, the shown frame is refined: the frames around it are decoded unless they are
/// kept, and a second denoiser filters them as `limpid denoise` would. Frames of a live source are not
/// refined, because it has no later frames.
///
/// A seek decodes from the key frame before its target, skips frames that no other is predicted from, and is
/// abandoned for the next seek. The key frame is shown if the seek takes long (0.2 s). Decoded frames are
/// kept, so that steps back need no decoding. During steps back, the group of pictures before the kept frames
/// is decoded ahead.
///
/// Work that takes the denoiser long (0.2 s) is canceled for new settings, a seek or the end, if the engine
/// can be stopped. Meanwhile the first frame, and the first one after a seek, is shown noisy. For another
/// filter or profile, a new denoiser is made before the results of the old one are waited for. Otherwise
/// there is one denoiser, which is reset if its frames are no longer needed.
///
/// All members may be called from any thread.
class Player {
 public:
  using Clock = std::chrono::steady_clock;

  Player(PlayerStages stages, const PlayerOptions& options);
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  Player(Player&&) = delete;
  Player& operator=(Player&&) = delete;
  /// Stops all threads after their current frame.
  ~Player();

  struct Taken {
    std::shared_ptr<const PlayedFrame> frame;  ///< to show now; nothing if it's not time
    bool begins = false;  ///< the clock begins with it: it is the first, or the first behind a seek
    std::optional<Clock::time_point> next_at;  ///< when it will be time, if that is known
    bool ended = false;                        ///< the source's last frame has been shown for its time
    /// The frame to be shown next, undenoised, if that takes the denoiser long; or the key frame before it,
    /// if a seek takes long. Each is returned once.
    std::shared_ptr<const PlayedFrame> waiting;
    /// The frame that is shown, once it is refined; once.
    std::shared_ptr<const PlayedFrame> refined;
  };
  /// Returns the frame to show at `now`. Throws the exception of a stage.
  Taken take(Clock::time_point now);

  void set_settings(const PlayerSettings& settings);
  PlayerSettings settings() const;

  void set_paused(bool paused);
  bool paused() const;
  void set_speed(double speed);
  double speed() const;
  /// Shows the next frame, or the one before, and pauses.
  void step_forward();
  void step_back();
  /// Goes to the frame that is shown at a time. False if the source can't.
  bool seek(double time);
  bool can_seek() const { return static_cast<bool>(stages_.seek); }
  /// Where it is, or is going, in seconds.
  double position() const;
  /// True until the frame of a seek or step is shown.
  bool is_seeking() const;
  /// True if the shown frame will be refined unless another one is requested.
  bool will_refine() const;
  /// The time that the denoiser has spent on the frame that the counters do not include yet.
  Clock::duration at_work() const;
  /// Lets the clock follow the audio, which is at `position`.
  void follow_audio(double position);

  /// Ends all stages; frames under way are dropped. False if one of them is still at work after `patience`:
  /// with an engine that can't be stopped, or waiting for the source.
  bool stop(std::chrono::milliseconds patience);
  /// Ends reading, and returns when all frames under way have gone through stages.denoised. Throws what a
  /// stage has thrown.
  void finish();

  const PlayerCounters& counters() const { return counters_; }
  /// Seconds from sending a frame to the denoiser to having it ready for the screen, smoothed.
  double turnaround() const;

 private:
  struct Job {
    Frame frame;
    double time = 0;
    std::uint64_t sequence = 0;
    Clock::time_point decoded_at;
    bool source_is_late = false;
  };
  class Denoising;  // state that only the denoising thread uses
  class Refining;   // state that only the refining thread uses

  void guarded(const std::function<void()>& loop);
  void read_loop();
  void denoise_loop();
  void refine_loop();

  // On the reader's thread.
  Job job_of(StoredFrame stored);
  bool serve_from_store();
  void serve_refining(std::unique_lock<std::mutex>& lock);
  void show_glimpse(StoredFrame key_frame, Clock::time_point begun);

  // All below with the mutex held.
  bool wants_frame() const;
  bool may_send() const;
  bool is_late(Clock::time_point now) const;
  std::optional<Clock::time_point> decides_at(Clock::time_point now) const;
  bool drop_late(Clock::time_point now);
  void deliver(const std::shared_ptr<PlayedFrame>& frame);
  std::optional<Clock::time_point> expire(Clock::time_point now);
  bool nothing_to_come() const;
  void forget_frames_under_way();
  void denoise_shown_again();
  void go_to(const SeekTarget& target);
  bool is_given_up() const;
  Reach refining_reach() const;
  bool can_refine(const PlayedFrame* frame) const;
  void forget_refining();

  const PlayerStages stages_;
  const PlayerOptions options_;
  PlayerCounters counters_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  int at_work_ = 3;  ///< threads
  std::exception_ptr error_;
  PlayerSettings settings_;

  Pacing pacing_;
  std::shared_ptr<const PlayedFrame> shown_;

  std::optional<SeekTarget> target_;
  std::optional<double> going_to_;  ///< until the frame there is shown
  bool going_before_ = false;       ///< to the frame before that
  std::deque<Job> decoded_;
  bool source_ended_ = false;
  std::uint64_t next_sequence_ = 0;

  bool stepping_back_ = false;  ///< the last that was asked for

  FrameStore store_;  ///< of the reader's thread

  std::uint64_t epoch_ = 0;  ///< raised when the frames under way are not wanted any more
  bool elsewhere_ = false;   ///< the new epoch follows a seek
  bool again_ = false;       ///< the new epoch begins with the frame that is shown
  /// Number of frames that were sent to the denoiser and are not yet shown (live: ready) or dropped.
  std::int64_t outstanding_ = 0;
  int latency_ = 0;  ///< of the denoiser
  int concurrency_ = 1;
  int ahead_of_step_ = 0;  ///< further frames to be ready before a filter begins that waits for later ones
  bool drained_ = false;   ///< the denoiser has given the last frame
  Clock::time_point idle_since_;

  std::deque<std::shared_ptr<PlayedFrame>> ready_;
  std::shared_ptr<PlayedFrame> waiting_;

  Refinement refinement_;

  DenoiseStage stage_;  ///< belongs to the denoising thread, except for its thread-safe functions
  StageCounters refining_counters_;
  DenoiseStage refining_stage_;  ///< belongs to the refining thread, except for its thread-safe functions
  std::jthread reader_;
  std::jthread denoiser_;
  std::jthread refiner_;
};

}  // namespace limpid::app
