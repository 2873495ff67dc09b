// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "app/pipeline/denoise_stage.h"
#include "app/pipeline/stage_counters.h"
#include "app/player/frame_levels.h"
#include "app/player/frame_store.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"

namespace limpid::app {

/// A request to refine the frame that stays on the screen.
struct RefiningRequest {
  PlayedFramePointer frame;
  Reach reach;  ///< the neighbors that the filter uses
  std::chrono::steady_clock::time_point begins_at;
  std::stop_token superseded;
};

/// Filters the shown frame again, with its neighbors and a second denoiser, as `limpid denoise` does. All
/// members except cancel() belong to the refining thread, which runs them as commands.
class FrameRefining {
 public:
  /// `find_neighbors` sends for the neighbors, which receive() takes.
  FrameRefining(const PlayerStages& stages, const PlayerOptions& options, PlayerQueues& queues,
                std::function<void(const RefiningRequest&)> find_neighbors);

  /// Serves requests until PlayerQueues::refining is closed.
  void run();

  void request(RefiningRequest request);
  void receive(const PlayedFramePointer& frame, Surroundings neighbors);
  /// Frees the memory of the denoiser.
  void release() { stage_.abandon(); }

  /// Ends the work for a superseded request. May be called on any thread.
  void cancel() { stage_.cancel(); }

 private:
  void refine();
  std::vector<FrameLevels::Level> levels_of(const RefiningRequest& request, const Surroundings& around);
  bool filter(const RefiningRequest& request, const Surroundings& around, PlayedFrame& refined);

  const PlayerStages& stages_;
  PlayerQueues& queues_;
  const std::function<void(const RefiningRequest&)> find_neighbors_;
  StageCounters counters_;
  DenoiseStage stage_;
  PlayerSettings settings_;            ///< of `stage_`
  std::optional<FrameLevels> levels_;  ///< of a source that can be opened again
  std::optional<RefiningRequest> request_;
  bool has_asked_ = false;  ///< for the neighbors
  std::optional<Surroundings> neighbors_;
};

}  // namespace limpid::app
