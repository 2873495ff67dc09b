// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/reach.h"

namespace limpid {

/// Deals the frames of a stream to workers in segments, each with the context that a filter's reach requires.
/// An idle worker takes over a part of another's segment, so no worker waits for a slower one, and segments
/// at the end of the stream are shorter. Counts frames from 0. Not thread-safe.
class SegmentDealer {
 public:
  /// `ahead`: the distance in frames between a worker and the worker whose segment it shortens; at least the
  /// reach's frames, and at most the frames received so far. With two equally fast workers, segments have
  /// twice that length, except the first ones and those of a slow source.
  SegmentDealer(std::size_t workers, Reach reach, std::int64_t ahead);

  std::int64_t ahead() const { return ahead_; }

  /// Adds a frame to the stream.
  void add() { ++count_; }
  std::int64_t count() const { return count_; }
  /// Ends the stream.
  void end() { ended_ = true; }
  /// Begins a new stream.
  void reset();

  struct Dealt {
    std::int64_t frame = 0;
    bool wanted = false;  ///< has a result, is not only context
    bool begins = false;  ///< first frame of a segment, which does not continue the worker's previous frames
  };
  /// The next frame for a worker, in the order of its segment. Returns nothing if the frame has not been
  /// added or no frame remains.
  std::optional<Dealt> next(std::size_t worker);
  /// True if a worker has received the last frame of the stream, so that it waits for no later one.
  bool has_had_the_last(std::size_t worker) const;
  /// No frame before this number will be dealt again.
  std::int64_t first_needed() const;

 private:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  struct Share {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // kOpen: the end of the stream, in one share until another takes it over
    std::int64_t next = 0;
    bool begins = true;  // no frame of it has been dealt
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

/// The engine names in `name`: "cuda:0,1,3" and "cuda:all" (those of `engines` that can run) give several of
/// one family, "cuda" its first device that can run, and any other name itself. Throws UsageError for lists
/// that mix families, repeat an engine or are empty.
std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines);

/// Combines several engines of one family into one engine. They share the frames of a stream in segments with
/// the context that the filter's reach requires. Results are in order and bit-exact with those of each engine
/// alone. Segments are long, so many frames are in progress (Denoiser::concurrency()). The denoiser of each
/// engine has its own thread. receive() throws the error of a denoiser when the next frame in order has no
/// result. `name` is the name given by the user.
std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines);

}  // namespace limpid
