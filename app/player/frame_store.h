// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "app/pipeline/denoise_stage.h"
#include "core/frame/frame.h"
#include "core/frame/reach.h"
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

/// The next frame of a source, with its time, or nothing at the end. `frames_per_second`: of the source, at
/// least roughly.
std::optional<StoredFrame> next_frame(const FrameSource& source, double frames_per_second);

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

  FrameStore(FrameSource source, const FrameStoreOptions& options, StageCounters& counters);

  /// The reach of around(), for which more frames are kept.
  void set_reach(const Reach& reach) { reach_ = reach; }

  /// The frame at the reading position, which moves on; nothing at the end or if given up.
  std::optional<StoredFrame> next(const GivenUp& given_up);
  /// The same, if the frame is kept already.
  std::optional<StoredFrame> next_kept();

  /// Moves the reading position to a frame that is kept. False if the store does not have
  /// the frame.
  bool find(const SeekTarget& target);
  /// Moves the reading position to a frame, or to the first one if there is none so early. Decodes from the
  /// key frame before it. False if given up. `glimpse`, unless empty, is called with that key frame if it is
  /// decoded and too early to be kept.
  bool seek(const SeekTarget& target, const GivenUp& given_up, const Glimpse& glimpse = {});

  /// True if next() would have to seek first: the source is not behind the kept frames, all of which have
  /// been read.
  bool must_seek() const { return !source_follows_ && next_ == kept_.size(); }
  bool has_reached_end() const { return kept_to_the_end_; }
  /// True if `target` is the frame before the first one that is kept.
  bool is_before_first(const SeekTarget& target) const;
  /// True if few frames are left before the reading position, of which `ahead` frames have not been used.
  bool needs_earlier_frames(std::size_t ahead) const;
  /// Decodes the group of pictures before the first frame that is kept. `given_up` may call find() and
  /// next_kept().
  void decode_earlier(const GivenUp& given_up);

  /// The frame at `time` and its neighbors, as many as there are within `reach`. The reading position stays.
  /// No frames if they cannot be decoded, or if given up.
  Surroundings around(double time, const Reach& reach, const GivenUp& given_up);

 private:
  StoredFrame with_time(Frame frame) const;
  std::optional<StoredFrame> decode();
  bool append();
  std::size_t capacity(const Frame& frame) const;
  double latest(const SeekTarget& target) const;
  void clear();
  bool decode_up_to(const SeekTarget& target, const GivenUp& given_up, const Glimpse& glimpse);
  bool decode_group_before(std::deque<StoredFrame>& earlier, double before, const GivenUp& given_up);
  std::optional<std::size_t> index_at(double time) const;
  bool keep_around(double time, const Reach& reach, const GivenUp& given_up);
  bool decode_around(double time, std::size_t before, const GivenUp& given_up);

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
