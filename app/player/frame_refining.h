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
#include <utility>
#include <vector>

#include "app/pipeline/denoise_stage.h"
#include "app/player/frame_store.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "core/engine/noise_control.h"
#include "core/frame/reach.h"

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
                          const FrameStore::GivenUp& given_up);

 private:
  struct Known {
    double time;
    Level level;
  };

  bool can_continue(double time, const NoiseSettings& settings) const;
  void begin(double time, const NoiseSettings& settings, const FrameStore::GivenUp& given_up);
  void send(StoredFrame frame);

  const std::function<FrameSource()> open_;
  Engine& engine_;
  const double frames_per_second_;
  std::optional<FrameSource> source_;
  NoiseSettings settings_;
  std::optional<NoiseControl> control_;
  bool has_ended_ = false;
  double first_time_ = 0;     ///< time of the first frame whose level is that of the whole file
  std::deque<double> times_;  ///< times of the frames whose level is not known yet
  std::deque<Known> known_;   ///< levels of successive frames
};

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
