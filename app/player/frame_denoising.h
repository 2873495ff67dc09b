// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>

#include "app/pipeline/denoise_stage.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "app/player/quality_control.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// A request to denoise from now on. The frames that are with the denoiser are dropped.
struct DenoisingRequest {
  std::stop_token superseded;
  /// Set if frames of another reading position follow: the token of the request to read there.
  std::optional<std::stop_token> position = {};
  bool again = false;              ///< the shown frame is denoised again
  std::uint64_t first_wanted = 0;  ///< PlayedFrame::sequence of the first frame to deliver
};

/// Denoises frames from PlayerQueues::decoded into PlayerQueues::presentation. Frames that cannot be ready
/// before their successor is due are dropped. For another filter or profile, a new denoiser is made before
/// the results of the old one are waited for; otherwise the denoiser is reset if its frames are dropped. All
/// members except cancel() and at_work_since() belong to the denoising thread, which runs them as commands.
class FrameDenoising {
 public:
  /// `request`: the first one, with the position that reading begins at.
  FrameDenoising(const PlayerStages& stages, const PlayerOptions& options, PlayerCounters& counters,
                 PlayerQueues& queues, const DenoisingRequest& request);

  /// Denoises until PlayerQueues::denoising is closed.
  void run();

  /// Sets the settings of frames that are sent from now on.
  void set_settings(const PlayerSettings& settings) { settings_ = settings; }
  void begin(const DenoisingRequest& request);

  /// Ends the work for a superseded request. May be called on any thread.
  void cancel() { stage_.cancel(); }
  /// DenoiseStage::at_work_since(). May be called on any thread.
  std::optional<std::chrono::steady_clock::time_point> at_work_since() const {
    return stage_.at_work_since();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Does the next piece of work. Returns false if there is none until `wake_at_`.
  bool work();
  std::int64_t outstanding() const;
  bool may_send() const;
  void take_next(const DecodedFrames::Next& next, bool is_late);
  void send_again();
  void prepare_step_up();
  NoiseModel estimate(const Frame& frame);
  void measure_pace();
  void remember(const PlayedFrame& frame);
  void send(const PlayedFrame& frame);
  void pass_on_result(const PlayedFrame& frame);
  void deliver(const std::shared_ptr<PlayedFrame>& frame);
  void send_context(int frames, const NoiseModel& level, const DenoiseStage::Maker& make);
  void show_waiting(const PlayedFrame& sent);
  void finish_stream();
  void drain();
  bool receive();

  const PlayerStages& stages_;
  const bool live_;
  const double most_load_;
  PlayerCounters& counters_;
  PlayerQueues& queues_;
  DenoiseStage stage_;
  QualityChoice quality_;
  PlayerSettings settings_;
  DenoisingRequest request_;
  std::optional<NoiseControl> noise_;
  PlayerSettings used_;                            ///< of `stage_`
  std::deque<std::shared_ptr<PlayedFrame>> sent_;  ///< with the denoiser
  std::deque<PlayedFrame> past_;                   ///< the last frames that were sent
  std::deque<PlayedFrame> recent_;                 ///< see remember()
  std::deque<PlayedFrame> again_;                  ///< frames of `recent_` to be sent once more
  bool steps_down_ = false;
  int ahead_of_step_ = 0;    ///< further frames to be ready before a filter begins that waits for later ones
  bool is_drained_ = false;  ///< the denoiser has returned the last frame
  std::int64_t busy_ = 0;    ///< time of the denoiser up to its last result, in ns
  std::chrono::nanoseconds estimating_{0};       ///< of `busy_`, time of the noise estimate since that result
  std::chrono::nanoseconds mean_estimating_{0};  ///< per frame
  Clock::time_point idle_since_ = Clock::now();
  std::optional<Clock::time_point> wake_at_;
};

}  // namespace limpid::app
