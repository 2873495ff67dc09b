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
#include "core/stream/stream.h"

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
               PlayerQueues& queues, std::stop_token superseded)
      : live_(options.live),
        counters_(counters),
        queues_(queues),
        store_(static_cast<const FrameSource&>(stages),
               {options.live, options.frames_per_second, options.kept_bytes}, counters.read),
        superseded_(std::move(superseded)) {}

  /// Reads until PlayerQueues::reading is closed.
  void run() {
    while (queues_.reading.run()) {
      if (superseded_.stop_requested()) {
        queues_.reading.wait();  // for the request that supersedes
      } else if (search_ && !target_) {
        serve_search();
      } else if (target_ || wants_frame()) {
        read_next();
      } else if (stepping_back_ && store_.needs_earlier_frames(queues_.decoded.size())) {
        store_.decode_earlier([this] { return !serve_from_store(); });
      } else {
        timed(counters_.read.waited_for_output_ns, [this] { queues_.reading.wait(); });
      }
    }
  }

  void seek(const SeekTarget& target, std::stop_token superseded) {
    target_ = target;
    superseded_ = std::move(superseded);
    stepping_back_ = target.before;
    has_ended_ = false;
    ++next_sequence_;  // the next frame is not the neighbor of the last one
  }
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
  // Frames decoded ahead: enough to even out the decoder's times.
  static constexpr std::size_t kDecodedFrames = 4;

  static std::optional<PlayedFrame> played(std::optional<StoredFrame> stored) {
    std::optional<PlayedFrame> frame;
    if (stored) {
      frame.emplace();
      frame->noisy = std::move(stored->frame);
      frame->time = stored->time;
    }
    return frame;
  }
  using Clock = std::chrono::steady_clock;

  bool wants_frame() const {
    // After a step back, the frames behind the kept ones, for which the source would have to seek, are not
    // shown.
    const std::size_t enough = stepping_back_ && store_.must_seek() ? 1 : kDecodedFrames;
    return !has_ended_ && (live_ || queues_.decoded.size() < enough);
  }
  void read_next() {
    const auto given_up = [this] { return superseded_.stop_requested(); };
    std::optional<SeekTarget> target = std::exchange(target_, std::nullopt);
    if (target && loop_.find(*target)) {
      stepping_back_ = false;  // nothing has to be decoded ahead
    }
    if (!target && !passage_.end) {  // a loop has ended, whose frames are kept
      if (const std::optional<double> end = loop_.leave()) {
        target = SeekTarget{.time = *end + kSameInstant, .before = false};
      }
    }
    std::optional<PlayedFrame> frame;
    if (!loop_.exists()) {
      frame = played(next_of_source(target, given_up));
    } else if (const PlayedFramePointer next = loop_.next()) {
      frame = *next;
    }
    queues_.presentation.drop_glimpse();  // the target is there
    if (given_up()) {
      return;
    }
    has_ended_ = !frame || (passage_.end && frame->time >= *passage_.end);
    if (!has_ended_) {
      pass_on(std::move(*frame));
    } else {
      queues_.decoded.end(superseded_);
      queues_.denoising.wake();
    }
  }
  std::optional<StoredFrame> next_of_source(const std::optional<SeekTarget>& target,
                                            const FrameStore::GivenUp& given_up) {
    const auto glimpse = [this, begun = Clock::now()](StoredFrame key_frame) {
      show_glimpse(std::move(key_frame), begun);
    };
    std::optional<StoredFrame> frame;
    if (!target || store_.seek(*target, given_up, glimpse)) {
      do {
        frame = store_.next(given_up);
      } while (frame && frame->time < passage_.begin.value_or(frame->time) - kSameInstant);
    }
    return frame;
  }
  void pass_on(PlayedFrame frame) {
    frame.sequence = next_sequence_++;
    frame.decoded_at = Clock::now();
    queues_.decoded.put(superseded_, std::move(frame));
    queues_.denoising.wake();
  }
  /// The key frame before the target of a seek, which is shown if the seek takes long.
  void show_glimpse(StoredFrame key_frame, Clock::time_point begun) {
    const auto frame = std::make_shared<PlayedFrame>(*played(std::move(key_frame)));
    frame->sequence = next_sequence_;
    next_sequence_ += 2;  // it and the next frame are not neighbors
    frame->sent_at = begun;
    frame->is_waiting = frame->is_glimpse = true;
    queues_.presentation.put_glimpse(superseded_, frame);
  }
  /// While earlier frames are decoded, delivers the requested frames that are kept. Returns false if other
  /// frames are requested.
  bool serve_from_store() {
    if (!queues_.reading.run() || !stepping_back_) {
      return false;
    }
    if (target_ && !store_.find(*target_)) {
      return store_.is_before_first(*target_);  // that is about to be decoded
    }
    target_.reset();
    while (queues_.decoded.size() < kDecodedFrames) {
      std::optional<PlayedFrame> next = played(store_.next_kept());
      if (!next) {
        break;
      }
      pass_on(std::move(*next));
    }
    // The request that supersedes comes next, and may be another step back.
    return queues_.decoded.size() > 0 || store_.has_reached_end() || superseded_.stop_requested();
  }
  void serve_search() {
    const NeighborSearch search = *std::exchange(search_, std::nullopt);
    const auto given_up = [&] { return search.superseded.stop_requested() || superseded_.stop_requested(); };
    if (!given_up()) {
      search.deliver(store_.around(search.time, search.reach, given_up));
    }
  }

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
