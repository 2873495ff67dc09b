#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/frame/reach.h"

namespace limpid {

/// Deals the frames of a stream to workers in segments, each with the context that a filter's reach asks
/// for. A worker that has nothing to do takes a part of what is before another, so none waits for a slower
/// one, and the segments at the stream's end are shorter. Counts frames from 0. Not thread-safe.
class SegmentDealer {
 public:
  /// `ahead`: a worker begins so many frames ahead of the one whose segment it cuts short, at least as many
  /// as the reach has, but no further ahead than frames have come. Where each of two workers is as fast,
  /// segments have twice that length, but for the first ones and those of a slow source.
  SegmentDealer(std::size_t workers, Reach reach, std::int64_t ahead);

  std::int64_t ahead() const { return ahead_; }

  /// Another frame of the stream has come.
  void add() { ++count_; }
  std::int64_t count() const { return count_; }
  /// There are no more.
  void end() { ended_ = true; }
  /// As new.
  void reset();

  struct Dealt {
    std::int64_t frame = 0;
    bool wanted = false;  ///< not context for others only
    bool begins = false;  ///< a segment: nothing that the worker had before goes on here
  };
  /// The next frame for a worker, in the order of its segment; nothing if that hasn't come, or none is left.
  std::optional<Dealt> next(std::size_t worker);
  /// Whether a worker has had the last frame of the stream, so that it waits for none behind it.
  bool has_had_the_last(std::size_t worker) const;
  /// No frame before this will be dealt any more.
  std::int64_t first_needed() const;

 private:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  struct Share {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // kOpen: of the stream, in one of them until another takes that over
    std::int64_t next = 0;
    bool begins = true;  // has had no frame of it
  };

  std::int64_t end_of(const Share& share) const;
  std::int64_t end_of_context(const Share& share) const;
  bool is_done(const Share& share) const;
  std::int64_t left_of(const Share& share) const;
  void take_over(Share& idle);

  Reach reach_;
  std::int64_t ahead_;
  std::int64_t count_ = 0;
  bool ended_ = false;
  std::vector<Share> shares_;
};

}  // namespace limpid
