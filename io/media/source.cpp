// SPDX-License-Identifier: MIT
#include "io/media/source.h"

#include <algorithm>

namespace limpid::io {

bool is_timeless(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0 ||
         stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT;
}

std::int64_t TimeRange::limit(std::int64_t time, AVRational time_base) const {
  if (time == kOpen || time == -kOpen) {
    return time;
  }
  // Containers that count milliseconds have rounded: 1/30 s is 33 ms there.
  constexpr std::int64_t kMostRounding = 500;
  const std::int64_t rounding =
      std::min(kMostRounding, av_rescale(AV_TIME_BASE / 2, time_base.num, time_base.den));
  return av_rescale_q_rnd(time - rounding, kMicrosecond, time_base, AV_ROUND_UP) -
         av_rescale_q(shift, kMicrosecond, time_base);
}

bool TimeRange::clip(std::int64_t& from, std::int64_t& to, AVRational time_base) const {
  from = std::max(from, first(time_base));
  to = std::min(to, behind(time_base));
  return from < to;
}

bool TimeRange::clip(AVPacket& packet, AVRational time_base, AVMediaType type) const {
  std::int64_t from = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (from == AV_NOPTS_VALUE) {
    return true;
  }
  if (type != AVMEDIA_TYPE_SUBTITLE || packet.duration <= 0) {
    return from >= first(time_base) && from < behind(time_base);
  }
  const std::int64_t begun = from;
  std::int64_t to = from + packet.duration;
  if (!clip(from, to, time_base)) {
    return false;
  }
  if (from != begun) {
    packet.pts = packet.dts = from;
  }
  packet.duration = to - from;
  return true;
}

}  // namespace limpid::io
