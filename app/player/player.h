// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/player/frame_denoising.h"
#include "app/player/frame_reading.h"
#include "app/player/frame_refining.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "core/base/not_copyable.h"

namespace limpid::app {

/// Plays a source through a denoiser in real time.
///
///     reading thread ─► DecodedFrames ─► denoising thread ─► PresentationQueue ─► take()
///
/// Each thread owns its data (FrameReading, FrameDenoising, FrameRefining) and receives commands through a
/// queue. A command that begins something new has a stop token, which the next such command stops: the
/// threads then end their work, and what they still put into the queues is ignored.
///
/// A frame is due when the clock reaches its time. There are only a few frames between denoising and the
/// screen, so that changed settings show within two frames. A ready frame whose successor is due is dropped
/// even if no frames are taken, so a window that does not draw delays nothing. If the source is too slow, the
/// clock waits for it. A live source has no clock: each stage takes the newest
/// frame and drops the others.
///
/// While paused, the shown frame and those after it are denoised again with new settings. While paused, or at
/// the end, the shown frame is refined: the frames around it are decoded unless they are kept, and a second
/// denoiser filters them as `limpid denoise` would. Frames of a live source are not refined, because it has
/// no later frames.
///
/// A source can end at the end of a passage (set_passage()). If the passage is to be repeated, a further
/// thread computes its frames as `limpid denoise` does, and these are played from memory as soon as a seek
/// goes into the passage.
///
/// Work that takes the denoiser long (PresentationQueue::kLong) is canceled for new settings, a seek or the
/// end, if the engine can be stopped. Meanwhile the first frame, and the first one after a seek, is shown
/// noisy.
///
/// All members except counters() belong to one thread.
class Player : NotCopyable {
 public:
  using Clock = std::chrono::steady_clock;
  using Taken = PresentationQueue::Taken;

  Player(PlayerStages stages, const PlayerOptions& options);
  /// Stops all threads after their current frame.
  ~Player() { stop(std::chrono::milliseconds(0)); }

  /// Returns what is to be shown at `now`. Throws the exception of a stage.
  Taken take(Clock::time_point now);

  void set_settings(const PlayerSettings& settings);
  const PlayerSettings& settings() const { return settings_; }

  void set_paused(bool paused);
  bool paused() const {
    return queues_.presentation.pacing([](const Pacing& pacing) { return pacing.clock().paused(); });
  }
  void set_speed(double speed) {
    change_pacing([speed](Pacing& pacing) { pacing.clock().set_speed(speed, Clock::now()); });
  }
  double speed() const {
    return queues_.presentation.pacing([](const Pacing& pacing) { return pacing.clock().speed(); });
  }
  /// Shows the next frame, or the one before, and pauses.
  void step_forward() {
    set_paused(true);
    queues_.reading.post([this] { reading_.expect_steps_forward(); });
    const bool follows = !queues_.presentation.has_nothing_to_come();
    change_pacing([follows](Pacing& pacing) { pacing.show_next(follows); });
  }
  void step_back();
  /// Goes to the frame that is shown at a time. False if the source can't.
  bool seek(double time);
  bool can_seek() const { return static_cast<bool>(stages_.seek); }
  /// Time of the shown frame, or of the target of a seek, in seconds.
  double position() const {
    const PlayedFramePointer shown = queues_.presentation.shown();
    return going_to_.value_or(shown != nullptr ? shown->time : 0);
  }
  /// True until the frame of a seek or step is shown.
  bool is_seeking() const { return going_to_.has_value(); }
  /// The part of the stored frames that is refined before the rest; nothing: all at once. Applies to the next
  /// frame that is refined.
  void set_view(const std::optional<Region>& view) { view_ = view; }
  /// True if the shown frame will be refined unless another one is requested.
  bool will_refine() const;
  /// The time that the denoiser has spent on the frame that the counters do not include yet.
  Clock::duration at_work() const {
    const std::optional<Clock::time_point> since = denoising_.at_work_since();
    return since ? Clock::now() - *since : Clock::duration::zero();
  }
  /// Plays no frame behind the passage; the whole source without one. `repeats`: the passage will be played
  /// again and again, so its results are computed and kept, if they fit into PlayerOptions::loop_bytes. A
  /// seek must follow.
  void set_passage(const std::optional<Passage>& passage, bool repeats);
  /// The state of these results.
  LoopStatus loop_status() const { return loop_rendering_.status(); }
  /// Lets the clock follow the audio, which is at `position`.
  void follow_audio(double position);

  /// Ends all stages; frames under way are dropped. False if one of them is still at work after `patience`:
  /// with an engine that can't be stopped, or waiting for the source.
  bool stop(std::chrono::milliseconds patience);
  /// Ends reading, and returns when all frames under way have gone through stages.denoised. Throws what a
  /// stage has thrown.
  void finish() {
    queues_.decoded.finish();
    queues_.reading.post([this] { reading_.finish(); });
    queues_.denoising.wake();
    queues_.presentation.wait_for_end();
  }

  const PlayerCounters& counters() const { return counters_; }
  /// Seconds from sending a frame to the denoiser to having it ready for the screen, smoothed.
  double turnaround() const {
    return queues_.presentation.pacing([](const Pacing& pacing) { return pacing.turnaround(); });
  }

 private:
  PlayerStages without_loop_speeds(PlayerStages stages);
  void start(const std::function<void()>& loop);
  void begin_denoising(bool again);
  void denoise_shown_again() {
    begin_denoising(true);
    change_pacing([](Pacing& pacing) { pacing.show_next(pacing.runs() && pacing.clock().paused()); });
  }
  void go_to(const SeekTarget& target);
  /// Applies a change to the clock, which the denoising thread follows.
  template <typename Function>
  void change_pacing(const Function& function) {
    queues_.presentation.pacing(function);
    queues_.denoising.wake();
    follow_refining();
  }
  /// True if the shown frame stays on the screen.
  bool stands() const { return paused() || queues_.presentation.has_nothing_to_come(); }
  Reach refining_reach() const {
    return stages_.refining_reach && !options_.live ? stages_.refining_reach(settings_) : Reach{};
  }
  /// Refinement uses neighbors, or finds the level that the frame has in the whole file.
  bool improves() const {
    const bool finds_level = stages_.open_again && !settings_.noise.noise;
    return stages_.refining_reach && !options_.live && (finds_level || refining_reach() != Reach{});
  }
  /// Requests the refinement of the shown frame, or ends it, according to the state.
  void follow_refining();
  /// Requests the results of the repeated passage, or ends that request.
  void render_loop();

  const PlayerStages stages_;
  const PlayerOptions options_;
  PlayerCounters counters_;
  PlayerSettings settings_;
  std::stop_source position_ends_;  ///< the request to read from a position
  std::stop_source request_ends_;   ///< the request to denoise
  std::stop_source refining_ends_;  ///< the request to refine
  std::stop_source loop_ends_;      ///< the request to compute a passage
  std::optional<Passage> loop_;     ///< the passage that is repeated
  PlayedFramePointer refining_;     ///< the frame that is refined, or null
  std::optional<Region> view_;
  std::optional<double> going_to_;  ///< time of the requested frame until it is shown
  bool going_before_ = false;       ///< the frame before that time is requested

  mutable PlayerQueues queues_;
  FrameReading reading_;
  FrameDenoising denoising_;
  FrameRefining refining_stage_;
  LoopRendering loop_rendering_;
  std::vector<std::future<void>> ends_;  ///< of the threads
  std::vector<std::jthread> threads_;    ///< last, as they use the rest
};

}  // namespace limpid::app
