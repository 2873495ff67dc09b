// SPDX-License-Identifier: MIT
#include "io/media/frame_gaps.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace limpid::io {
namespace {

void add_gap(FrameGaps::Missing& to, std::int64_t frames, double begin, double end) {
  if (to.places == 0) {
    to.begin = begin;
    to.end = end;
  }
  to.frames += frames;
  ++to.places;
}

}  // namespace

void FrameGaps::add(const AVPacket& packet, AVRational time_base, bool damaged, bool counts, bool has_clock) {
  was_damaged_ = was_damaged_ || damaged;
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  if (time == AV_NOPTS_VALUE) {
    return;
  }
  const std::int64_t last = std::exchange(last_time_, time);
  const std::int64_t duration = std::exchange(last_duration_, packet.duration);
  const bool has_error = std::exchange(was_damaged_, false);
  if (last == AV_NOPTS_VALUE || duration <= 0) {
    return;
  }
  const std::int64_t step = time - last;
  const bool is_regular = 2 * step > duration && 2 * step < 3 * duration;
  if (is_regular) {
    ++regular_;
    regular_time_ += step;
    return;
  }
  // Containers round durations; the mean of many steps is exact.
  const double mean = regular_ > 0 ? static_cast<double>(regular_time_) / static_cast<double>(regular_)
                                   : static_cast<double>(duration);
  const std::int64_t frames = std::llround(static_cast<double>(step) / mean) - 1;
  // Cameras drop single frames, so a single one is not a gap.
  constexpr std::int64_t kMostFrames = 10'000'000;  // longer gaps are damaged times
  Missing* const gap = frames > kMostFrames       ? nullptr
                       : has_error && frames >= 1 ? &damaged_
                       : has_clock && frames >= 2 ? &unexplained_
                                                  : nullptr;
  if (gap == nullptr) {
    ++irregular_;
  } else if (counts) {
    add_gap(*gap, frames, static_cast<double>(last + duration) * av_q2d(time_base),
            static_cast<double>(time) * av_q2d(time_base));
  }
}

void FrameGaps::forget_position() {
  last_time_ = AV_NOPTS_VALUE;
  was_damaged_ = false;
}

FrameGaps::Missing FrameGaps::missing(bool ended) const {
  // The number of missing frames is known only if nearly all frames have one duration.
  constexpr std::int64_t kRegularPerIrregular = 20;
  const bool has_rate = regular_ > kRegularPerIrregular * irregular_;
  Missing all = has_rate ? damaged_ : Missing{};
  constexpr std::int64_t kLeastRegular = 12;
  constexpr std::int64_t kRegularPerGap = 500;
  const bool keeps_rate =
      irregular_ == 0 && regular_ >= kLeastRegular && unexplained_.places <= 1 + regular_ / kRegularPerGap;
  if (ended && keeps_rate && unexplained_.places > 0) {
    const bool is_first = all.places == 0 || unexplained_.begin < all.begin;
    all.begin = is_first ? unexplained_.begin : all.begin;
    all.end = is_first ? unexplained_.end : all.end;
    all.frames += unexplained_.frames;
    all.places += unexplained_.places;
  }
  return all;
}

std::string text_of(const FrameGaps::Missing& missing) {
  std::array<char, 160> text{};
  if (missing.places == 1) {
    std::snprintf(text.data(), text.size(), "%lld frame%s missing between %.2f s and %.2f s",
                  static_cast<long long>(missing.frames), missing.frames == 1 ? " is" : "s are",
                  missing.begin, missing.end);
  } else {
    std::snprintf(text.data(), text.size(),
                  "%lld frames are missing in %lld places, first between %.2f s and %.2f s",
                  static_cast<long long>(missing.frames), static_cast<long long>(missing.places),
                  missing.begin, missing.end);
  }
  return text.data();
}

}  // namespace limpid::io
