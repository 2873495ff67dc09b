// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "app/player/frame_store.h"

namespace limpid::app {

struct PlayedFrame;

/// The refinement of a frame that stays on the screen, from asking for its neighbors to the better result.
/// Any other wish of the user ends it. Not thread-safe.
class Refinement {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using FramePointer = std::shared_ptr<const PlayedFrame>;

  explicit Refinement(Time now) : rests_since_(now) {}

  /// The time when it may begin: after the same picture has been shown for a while.
  Time begins_at() const { return rests_since_ + kRest; }
  bool is_under_way() const { return frame_ != nullptr; }
  bool is_of(const FramePointer& frame) const { return frame_ == frame; }
  /// True if the frame has been refined as far as possible.
  bool is_settled(const PlayedFrame* frame) const { return settled_.get() == frame; }

  /// Begins with a frame, whose neighbors are requested from now on.
  void begin(FramePointer frame) {
    frame_ = std::move(frame);
    wants_neighbors_ = true;
  }
  bool wants_neighbors() const { return wants_neighbors_; }
  const FramePointer& frame() const { return frame_; }
  void give_neighbors(Surroundings neighbors) {
    wants_neighbors_ = false;
    neighbors_ = std::move(neighbors);
  }
  bool has_neighbors() const { return neighbors_.has_value(); }
  Surroundings take_neighbors() { return *std::exchange(neighbors_, std::nullopt); }
  /// The result.
  void finish(FramePointer refined) { refined_ = std::move(refined); }
  bool is_finished() const { return refined_ != nullptr; }
  const FramePointer& refined() const { return refined_; }
  /// The frame does not get better. Ends the refinement.
  void settle(Time now) {
    settled_ = frame_;
    forget(now);
  }

  /// The user requested something else. Returns true if that ends a refinement.
  bool forget(Time now) {
    rests_since_ = now;
    const bool ends = frame_ != nullptr;
    frame_.reset();
    refined_.reset();
    neighbors_.reset();
    wants_neighbors_ = false;
    return ends;
  }

 private:
  static constexpr std::chrono::milliseconds kRest{100};

  Time rests_since_;
  FramePointer frame_;
  FramePointer settled_;
  bool wants_neighbors_ = false;
  std::optional<Surroundings> neighbors_;
  FramePointer refined_;
};

}  // namespace limpid::app
