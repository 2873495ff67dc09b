// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/player/frame_levels.h"
#include "app/player/loop_frames.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "core/frame/reach.h"

namespace limpid::app {

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
                Deliver deliver);

  /// Serves requests until the commands are closed.
  void run();

  void request(LoopRequest request);
  /// Ends the request and frees all memory.
  void release();

  /// May be called on any thread.
  LoopStatus status() const;

 private:
  /// Decoded frames of the passage, and those before and behind it that the filter uses.
  struct Decoded {
    Passage passage;
    Reach reach;
    std::vector<StoredFrame> frames;
    std::size_t begin = 0;  ///< index of the first frame of the passage
    std::size_t end = 0;    ///< index behind its last frame
  };

  void render(const LoopRequest& request);
  void decode(const LoopRequest& request);
  std::shared_ptr<const LoopFrames> kept_with(const PlayerSettings& settings) const;
  void keep(const std::shared_ptr<const LoopFrames>& frames);
  std::vector<FrameLevels::Level> levels_of(const LoopRequest& request) const;
  std::shared_ptr<const LoopFrames> filter(const LoopRequest& request);
  void set_status(const LoopStatus& status);

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
