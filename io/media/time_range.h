// SPDX-License-Identifier: MIT
#pragma once

// The selected segment of a source. Private to io.

#include <cstdint>
#include <limits>

#include "io/media/libav.h"

namespace limpid::io {

/// True for cover art and attachments, which have no time.
bool is_timeless(const AVStream& stream);

/// A range of times from `begin` (included) to `end` (excluded), in microseconds of the source. All functions
/// take times that include the source's offset, and subtract `shift`.
class TimeRange {
 public:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = -kOpen;
  std::int64_t end = kOpen;
  std::int64_t shift = 0;

  bool has_begin() const { return begin != -kOpen; }
  bool has_end() const { return end != kOpen; }

  /// The first time of the range, and the first time after it.
  std::int64_t first(AVRational time_base) const { return limit(begin, time_base); }
  std::int64_t behind(AVRational time_base) const { return limit(end, time_base); }

  /// Cuts the span from `from` up to `to` to the range. Returns false if nothing remains.
  bool clip(std::int64_t& from, std::int64_t& to, AVRational time_base) const;

  /// True if a packet belongs to the range: it begins in the range, or it is a subtitle that extends into the
  /// range and is cut. Packets without a time always belong to it.
  bool clip(AVPacket& packet, AVRational time_base, AVMediaType type) const;

 private:
  std::int64_t limit(std::int64_t time, AVRational time_base) const;
};

}  // namespace limpid::io
