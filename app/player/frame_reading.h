// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/player/frame_store.h"
#include "app/player/played_frame.h"
#include "app/player/player_queues.h"
#include "core/frame/reach.h"

namespace limpid::app {

/// The frames around a frame, for its refinement.
struct NeighborSearch {
  double time = 0;  ///< of the frame
  Reach reach;
  std::stop_token superseded;
  std::function<void(Surroundings)> deliver;
};

/// Reads the frames of a source into PlayerQueues::decoded, a few ahead. A seek decodes from the key frame
/// before its target, and is abandoned once it is superseded. During steps back, the group of pictures before
/// the kept frames is decoded ahead. All members belong to the reading thread, which runs them as commands.
class FrameReading {
 public:
  /// `superseded`: of the request to read from the beginning.
  FrameReading(const PlayerStages& stages, const PlayerOptions& options, PlayerCounters& counters,
               PlayerQueues& queues, std::stop_token superseded);

  /// Reads until PlayerQueues::reading is closed.
  void run();

  void seek(const SeekTarget& target, std::stop_token superseded);
  /// Reads no further frame.
  void finish() { has_ended_ = true; }
  /// No step back is expected.
  void expect_steps_forward() { stepping_back_ = false; }
  /// FrameStore::set_reach().
  void set_reach(const Reach& reach) { store_.set_reach(reach); }
  void find_neighbors(NeighborSearch search) { search_ = std::move(search); }
  /// Reads the frames of a passage only. A seek must follow.
  void set_passage(const Passage& passage) { passage_ = passage; }
  /// Reads the frames of a passage from memory, from the next seek into it on; null: from the source.
  void use_loop(std::shared_ptr<const LoopFrames> frames) { loop_.set_frames(std::move(frames)); }

 private:
  using Clock = std::chrono::steady_clock;

  bool wants_frame() const;
  void read_next();
  std::optional<StoredFrame> next_of_source(const std::optional<SeekTarget>& target,
                                            const FrameStore::GivenUp& given_up);
  void pass_on(PlayedFrame frame);
  void show_glimpse(StoredFrame key_frame, Clock::time_point begun);
  bool serve_from_store();
  void serve_search();

  const bool live_;
  PlayerCounters& counters_;
  PlayerQueues& queues_;
  FrameStore store_;
  std::stop_token superseded_;  ///< of the request whose frames are read
  std::optional<SeekTarget> target_;
  std::optional<NeighborSearch> search_;
  LoopPosition loop_;
  Passage passage_;
  bool stepping_back_ = false;
  bool has_ended_ = false;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace limpid::app
