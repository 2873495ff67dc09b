#pragma once

// The segment of a source that is wanted. Private to io.

#include <cstdint>
#include <limits>

#include "io/media/libav.h"

namespace limpid::io {

/// Cover art and attachments, which belong to no moment.
bool is_timeless(const AVStream& stream);

/// Times from `begin` up to, not including, `end`, in microseconds of the source. All functions take times to
/// which the source's offset has been added, in which `shift` becomes zero.
class TimeRange {
 public:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = -kOpen;
  std::int64_t end = kOpen;
  std::int64_t shift = 0;

  bool has_begin() const { return begin != -kOpen; }
  bool has_end() const { return end != kOpen; }

  /// The first time of the range, and the first after it.
  std::int64_t first(AVRational time_base) const { return limit(begin, time_base); }
  std::int64_t behind(AVRational time_base) const { return limit(end, time_base); }

  /// Cuts what lasts from `from` up to `to` down to the range; false if nothing is left.
  bool clip(std::int64_t& from, std::int64_t& to, AVRational time_base) const;

  /// Whether a packet belongs to the range: by the time at which it begins, but subtitles that reach into the
  /// range are cut to it. Packets without a time always do.
  bool clip(AVPacket& packet, AVRational time_base, AVMediaType type) const;

 private:
  std::int64_t limit(std::int64_t time, AVRational time_base) const;
};

}  // namespace limpid::io
