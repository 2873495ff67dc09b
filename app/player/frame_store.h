// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/stream/stream.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The source of a FrameStore. Any function may throw.
struct FrameSource {
  /// The next item: a frame or the end. Packets are skipped.
  std::function<io::Reader::Item()> read;
  /// Moves to `before` seconds before the time `seconds`, as io::Reader::seek() does. Empty if the source
  /// cannot seek.
  std::function<void(double seconds, double before, const std::function<bool()>& given_up,
                     const std::function<void(Frame)>& glimpse)>
      seek;
};

struct FrameStoreOptions {
  bool live = false;              ///< the source has no past: only frames for refining are kept
  double frames_per_second = 25;  ///< of the source, at least roughly
  /// Upper limit of the decoded frames that are kept, for at most some hundred frames; half as many more
  /// while earlier ones are decoded.
  std::size_t kept_bytes = std::size_t{256} << 20;
};

/// A frame of a FrameStore.
struct StoredFrame {
  Frame frame;
  double time = 0;  ///< seconds, in the source
};

/// `frames_per_second`: of the source, at least roughly.
inline StoredFrame stored_frame(Frame frame, double frames_per_second) {
  const double time =
      io::presentation_time(frame).value_or(static_cast<double>(frame.index) / frames_per_second);
  return {std::move(frame), time};
}

/// The next frame of a source, with its time, or nothing at the end. `frames_per_second`: of the source, at
/// least roughly.
inline std::optional<StoredFrame> next_frame(const FrameSource& source, double frames_per_second) {
  std::optional<Frame> frame = io::next_frame(source.read);
  return frame ? std::optional(stored_frame(*std::move(frame), frames_per_second)) : std::nullopt;
}

/// Consecutive frames of a source.
struct Surroundings {
  std::vector<Frame> frames;
  std::size_t current = 0;  ///< index of the frame whose neighbors the others are
};

/// The destination of a seek: the frame that is shown at `time`, or the frame before it.
struct SeekTarget {
  double time = 0;
  bool before = false;
};

/// Reads frames of a source in order and keeps decoded ones, so that steps back and the neighbors of a frame
/// need no decoding. The kept frames are consecutive; the reading position is between two of them, or behind
/// the last one.
///
/// Long work takes a function `given_up`: once it returns true, the work ends without a result. Not
/// thread-safe.
class FrameStore {
 public:
  using GivenUp = std::function<bool()>;
  using Glimpse = std::function<void(StoredFrame)>;

  FrameStore(FrameSource source, const FrameStoreOptions& options, StageCounters& counters)
      : source_(std::move(source)), options_(options), counters_(counters) {}

  /// The reach of around(), for which more frames are kept.
  void set_reach(const Reach& reach) { reach_ = reach; }

  /// The frame at the reading position, which moves on; nothing at the end or if given up.
  std::optional<StoredFrame> next(const GivenUp& given_up) {
    if (must_seek() && !kept_to_the_end_) {
      if (!decode_up_to({.time = kept_.back().time, .before = false}, given_up, {})) {
        return std::nullopt;
      }
      next_ = std::min(next_ + 1, kept_.size());
    }
    if (next_ == kept_.size() && (kept_to_the_end_ || !append())) {
      kept_to_the_end_ = !options_.live;
      return std::nullopt;
    }
    std::optional<StoredFrame> frame = next_kept();
    while (next_ > 0 && kept_.size() > capacity(frame->frame)) {
      kept_.pop_front();
      kept_from_the_beginning_ = false;
      --next_;
    }
    return frame;
  }
  /// The same, if the frame is kept already.
  std::optional<StoredFrame> next_kept() {
    return next_ < kept_.size() ? std::optional(kept_[next_++]) : std::nullopt;
  }

  /// Moves the reading position to a frame that is kept. False if the store does not have
  /// the frame.
  bool find(const SeekTarget& target) {
    const double end = latest(target);
    const auto behind =
        std::find_if(kept_.begin(), kept_.end(), [&](const StoredFrame& kept) { return kept.time > end; });
    if ((behind == kept_.begin() && !(kept_from_the_beginning_ && !kept_.empty())) ||
        (behind == kept_.end() && !kept_to_the_end_)) {
      return false;
    }
    next_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - kept_.begin(), 1)) - 1;
    return true;
  }
  /// Moves the reading position to a frame, or to the first one if there is none so early. Decodes from the
  /// key frame before it. False if given up. `glimpse`, unless empty, is called with that key frame if it is
  /// decoded and too early to be kept.
  bool seek(const SeekTarget& target, const GivenUp& given_up, const Glimpse& glimpse = {}) {
    return find(target) || decode_up_to(target, given_up, glimpse);
  }

  /// True if next() would have to seek first: the source is not behind the kept frames, all of which have
  /// been read.
  bool must_seek() const { return !source_follows_ && next_ == kept_.size(); }
  bool has_reached_end() const { return kept_to_the_end_; }
  /// True if `target` is the frame before the first one that is kept.
  bool is_before_first(const SeekTarget& target) const {
    return target.before && !kept_.empty() && std::abs(target.time - kept_.front().time) <= kSameTime;
  }
  /// True if few frames are left before the reading position, of which `ahead` frames have not been used.
  bool needs_earlier_frames(std::size_t ahead) const {
    return !kept_.empty() && !kept_from_the_beginning_ && next_ < ahead + capacity(kept_.front().frame) / 2;
  }
  /// Decodes the group of pictures before the first frame that is kept. `given_up` may call find() and
  /// next_kept().
  void decode_earlier(const GivenUp& given_up) {
    bool is_given_up = false;  // once for all: the position of the source is not known then
    const GivenUp ends = [&] { return is_given_up = is_given_up || given_up(); };
    const std::size_t most = capacity(kept_.front().frame);
    std::deque<StoredFrame> earlier;
    for (const double before : {static_cast<double>(most) / (2 * options_.frames_per_second), kAnywhere}) {
      if (!decode_group_before(earlier, before, ends)) {
        return;
      }
      if (!earlier.empty()) {
        break;
      }
    }
    kept_from_the_beginning_ = earlier.empty();
    next_ += earlier.size();
    kept_.insert(kept_.begin(), std::make_move_iterator(earlier.begin()),
                 std::make_move_iterator(earlier.end()));
    constexpr std::size_t kAhead = 4;  // frames that stay behind the reading position
    while (kept_.size() > std::max(most, next_ + kAhead)) {
      kept_.pop_back();
      kept_to_the_end_ = false;
    }
  }

  /// The frame at `time` and its neighbors, as many as there are within `reach`. The reading position stays.
  /// No frames if they cannot be decoded, or if given up.
  Surroundings around(double time, const Reach& reach, const GivenUp& given_up) {
    Surroundings around;
    if (!keep_around(time, reach, given_up)) {
      return around;
    }
    const std::size_t place = *index_at(time);
    around.current = std::min(place, static_cast<std::size_t>(reach.before));
    const std::size_t first = place - around.current;
    const std::size_t end = std::min(kept_.size(), place + 1 + static_cast<std::size_t>(reach.after));
    for (std::size_t i = first; i < end; ++i) {
      around.frames.push_back(kept_[i].frame);
    }
    return around;
  }

 private:
  // Containers round times.
  static constexpr double kSameTime = 0.0005;
  // A distance in seconds that reaches the beginning of any source.
  static constexpr double kAnywhere = 1e6;
  // Frames between the reader and the screen, at most, unless an engine has many devices.
  static constexpr std::size_t kUnderWay = 16;
  // Few people step through more frames than that one by one.
  static constexpr std::size_t kMostKept = 250;

  StoredFrame with_time(Frame frame) const {
    return stored_frame(std::move(frame), options_.frames_per_second);
  }
  std::optional<StoredFrame> decode() {
    std::optional<StoredFrame> frame =
        timed(counters_.busy_ns, [&] { return next_frame(source_, options_.frames_per_second); });
    counters_.frames += frame ? 1 : 0;
    return frame;
  }
  /// Decodes one more frame. False at the end.
  bool append() {
    std::optional<StoredFrame> frame = decode();
    if (frame) {
      kept_.push_back(std::move(*frame));
    }
    return frame.has_value();
  }
  /// The number of frames like this one to keep.
  std::size_t capacity(const Frame& frame) const {
    // A source that cannot seek does not give the neighbors of a frame again.
    const std::size_t for_refining =
        reach_ == Reach{} ? 0 : static_cast<std::size_t>(reach_.before) + kUnderWay;
    if (options_.live || !source_.seek) {
      return for_refining;
    }
    const std::size_t for_steps = std::min(options_.kept_bytes / frame_bytes(frame.format), kMostKept);
    return std::max<std::size_t>(for_steps, for_refining > 0 ? 1 : 0);
  }
  /// The latest time that the target can have.
  double latest(const SeekTarget& target) const {
    return target.before ? target.time - kSameTime : target.time + kSameTime;
  }
  void clear() {
    kept_.clear();
    next_ = 0;
    kept_to_the_end_ = kept_from_the_beginning_ = false;
    source_follows_ = true;
  }
  /// Decodes until the target and the frame behind it are kept, or to the end.
  bool decode_up_to(const SeekTarget& target, const GivenUp& given_up, const Glimpse& glimpse) {
    // The last frame before a time is known once a later one has been decoded. It is rarely farther from that
    // time than the average distance of frames.
    constexpr std::size_t kLeast = 2;
    // A few steps back may follow a seek, and more steps back follow a step back. Decoders skip half of the
    // frames that are not shown.
    const std::size_t few = std::max<std::size_t>(12, static_cast<std::size_t>(reach_.before));
    const auto frames_before = [&](std::size_t kept) {
      return kLeast + (target.before ? kept / 2 : std::min(kept, few));
    };
    std::size_t most = frames_before(kept_.empty() ? 0 : capacity(kept_.front().frame));
    const double end = latest(target);
    for (const double before : {static_cast<double>(most) / options_.frames_per_second, kAnywhere}) {
      clear();
      timed(counters_.busy_ns, [&] {
        source_.seek(target.before ? target.time - 2 * kSameTime : target.time, before, given_up,
                     [&](Frame frame) {
                       if (glimpse) {
                         glimpse(with_time(std::move(frame)));
                       }
                     });
      });
      while (!kept_to_the_end_ && !given_up() && (kept_.empty() || kept_.back().time <= end)) {
        kept_to_the_end_ = !append();
        if (!kept_to_the_end_) {
          most = frames_before(capacity(kept_.back().frame));
        }
        while (kept_.size() > most) {
          kept_.pop_front();
        }
      }
      if (given_up()) {
        clear();  // the position of the source is not known
        return false;
      }
      if (find(target)) {
        break;
      }
    }
    return true;
  }
  /// Decodes from the last key frame before the kept frames up to these, and keeps the frames of the last
  /// `before` seconds.
  bool decode_group_before(std::deque<StoredFrame>& earlier, double before, const GivenUp& given_up) {
    const double end = kept_.front().time - kSameTime;
    const std::size_t most = capacity(kept_.front().frame) / 2;
    source_follows_ = false;
    timed(counters_.busy_ns, [&] { source_.seek(end - kSameTime, before, given_up, {}); });
    while (!given_up()) {
      std::optional<StoredFrame> frame = decode();
      if (!frame || frame->time >= end) {
        return true;
      }
      earlier.push_back(std::move(*frame));
      if (earlier.size() > most) {
        earlier.pop_front();
      }
    }
    return false;
  }
  std::optional<std::size_t> index_at(double time) const {
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const StoredFrame& kept) {
      return std::abs(kept.time - time) <= kSameTime;
    });
    return found == kept_.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - kept_.begin()));
  }
  /// Decodes the neighbors of the frame at `time` that are not kept, as far as there are any.
  bool keep_around(double time, const Reach& reach, const GivenUp& given_up) {
    const auto before = static_cast<std::size_t>(reach.before);
    const auto after = static_cast<std::size_t>(reach.after);
    std::optional<std::size_t> place = index_at(time);
    const bool has_before = place && (*place >= before || kept_from_the_beginning_);
    const bool can_go_on = source_follows_ || kept_to_the_end_ || (place && kept_.size() - *place > after);
    if ((!has_before || !can_go_on) && source_.seek && !kept_.empty()) {
      if (!decode_around(time, before, given_up)) {
        return false;
      }
      place = index_at(time);
    }
    while (place && source_follows_ && !kept_to_the_end_ && kept_.size() - *place <= after) {
      if (given_up()) {
        return false;
      }
      kept_to_the_end_ = !append();
    }
    return place.has_value();
  }
  /// Replaces the kept frames by those from `before` frames before `time` to the last one that has been read,
  /// at least. If given up, the kept frames stay.
  bool decode_around(double time, std::size_t before, const GivenUp& given_up) {
    const double last_read = next_ > 0 ? kept_[next_ - 1].time : kept_.front().time - 2 * kSameTime;
    // More time where frames are farther apart than on average.
    for (const double spread : {1.0, 8.0}) {
      std::deque<StoredFrame> around;
      const double seconds = spread * static_cast<double>(before + 1) / options_.frames_per_second;
      bool ended = false;
      source_follows_ = false;
      timed(counters_.busy_ns, [&] { source_.seek(time, seconds, given_up, {}); });
      while (!ended && (around.empty() || around.back().time <= std::max(time, last_read) + kSameTime)) {
        if (given_up()) {
          return false;
        }
        std::optional<StoredFrame> frame = decode();
        ended = !frame;
        if (frame) {
          around.push_back(std::move(*frame));
        }
        while (around.size() > before + 1 && around[before + 1].time <= time + kSameTime) {
          around.pop_front();
        }
      }
      const auto behind = [&](double than) {
        return std::find_if(around.begin(), around.end(),
                            [&](const StoredFrame& kept) { return kept.time > than + kSameTime; }) -
               around.begin();
      };
      const bool is_all = seconds >= time;
      if (behind(time) > static_cast<std::ptrdiff_t>(before) || is_all || spread > 1) {
        next_ = static_cast<std::size_t>(behind(last_read));
        kept_ = std::move(around);
        kept_to_the_end_ = ended;
        kept_from_the_beginning_ = false;
        source_follows_ = true;
        return true;
      }
    }
    return false;
  }

  const FrameSource source_;
  const FrameStoreOptions options_;
  StageCounters& counters_;
  Reach reach_;
  std::deque<StoredFrame> kept_;
  std::size_t next_ = 0;                 ///< the reading position: an index of kept_, or its size
  bool kept_to_the_end_ = false;         ///< the source ends behind the kept frames
  bool kept_from_the_beginning_ = true;  ///< the source has no frames before the kept ones
  bool source_follows_ = true;           ///< the source's next frame is the one behind the kept frames
};

}  // namespace limpid::app
