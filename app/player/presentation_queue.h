// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "app/player/pacing.h"
#include "app/player/played_frame.h"

namespace limpid::app {

/// Denoised frames on their way to the screen, and the clock that decides when each is shown. A frame whose
/// successor is due is dropped. Each frame belongs to a request, whose stop token is set when another request
/// supersedes it; its frames are then ignored. Thread-safe.
class PresentationQueue {
 public:
  using Time = Pacing::Time;

  struct Options {
    bool live = false;
    double frames_per_second = 25;
    std::function<void()> wake;      ///< called when there is something new to take
    std::function<void()> has_room;  ///< called when frames have left the queue
  };
  /// `dropped`: counts frames that were dropped.
  PresentationQueue(const Options& options, std::atomic<std::int64_t>& dropped)
      : options_(options), dropped_(dropped), pacing_(options.live, options.frames_per_second) {}

  // The window's side.

  struct Taken {
    PlayedFramePointer frame;  ///< to be shown now; null if no frame is due
    bool begins = false;       ///< the clock begins with `frame`: the first frame, or the first after a seek
    std::optional<Time> next_at;  ///< when the next frame is due, if known
    bool ended = false;           ///< the last frame of the source has been shown for its time
    /// The next frame, noisy, if denoising takes long; or the key frame before it, if a seek takes long. Each
    /// is returned once.
    PlayedFramePointer waiting;
    /// The shown frame, once it is refined; once.
    PlayedFramePointer refined;
  };
  /// The frame for `now`. Throws the exception of fail().
  Taken take(Time now);
  PlayedFramePointer shown() const;
  /// Drops all frames, of a request that has been superseded.
  void begin();
  /// Drops a refined frame that has not been taken.
  void drop_refined();
  /// True if the last frame is shown and no frame is to come.
  bool has_nothing_to_come() const;
  /// Calls a function with the Pacing, and returns its result.
  template <typename Function>
  auto pacing(const Function& function) {
    const std::scoped_lock lock(mutex_);
    return function(pacing_);
  }
  /// Waits until no frame is to come from the denoiser. Throws the exception of fail().
  void wait_for_end();

  // The denoising thread's side.

  std::size_t size() const;
  void put(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame);
  /// A frame that is shown if the next one takes long.
  void put_waiting(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame);
  /// No frame follows.
  void end(const std::stop_token& superseded);
  /// Drops frames whose successors are due. Returns when the next one will be dropped.
  std::optional<Time> expire(Time now);

  // The reading thread's side.

  /// The key frame before the target of a seek, which is shown if the seek takes long.
  void put_glimpse(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame);
  void drop_glimpse();

  // The refining thread's side.

  /// A better result for `frame`; null if there is none.
  void put_refined(const std::stop_token& superseded, const PlayedFramePointer& frame,
                   const PlayedFramePointer& refined);
  /// True if the frame cannot be refined.
  bool is_settled(const PlayedFramePointer& frame) const;

  /// Passes on the exception of a thread.
  void fail(const std::exception_ptr& error);

  /// A frame that takes longer is shown noisy, and is abandoned if the settings change.
  static constexpr std::chrono::milliseconds kLong{200};

 private:
  void drop_expired(Time now);
  void take_due(Taken& taken, Time now);
  void take_waiting(Taken& taken, Time now);

  const Options options_;
  std::atomic<std::int64_t>& dropped_;
  mutable std::mutex mutex_;
  std::condition_variable ended_or_failed_;
  Pacing pacing_;
  std::deque<std::shared_ptr<PlayedFrame>> ready_;
  bool has_ended_ = false;
  std::shared_ptr<PlayedFrame> waiting_;
  PlayedFramePointer shown_;
  PlayedFramePointer refined_;  ///< of `shown_`
  PlayedFramePointer settled_;
  std::exception_ptr error_;
};

}  // namespace limpid::app
