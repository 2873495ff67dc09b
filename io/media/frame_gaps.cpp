// SPDX-License-Identifier: MIT
#include "io/media/frame_gaps.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace limpid::io {
namespace {

/// Number of regular frames before and after a gap without an error.
constexpr std::int64_t kRegularAround = 3;

void add_gap(FrameGaps::Missing& to, const FrameGaps::Missing& gap) {
  if (to.places == 0 || gap.begin < to.begin) {
    to.begin = gap.begin;
    to.end = gap.end;
  }
  to.frames += gap.frames;
  to.places += gap.places;
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
    if (last_.places > 0 && regular_ - regular_at_last_ >= kRegularAround) {
      add_gap(unexplained_, std::exchange(last_, {}));
    }
    return;
  }
  // Containers round durations; the mean of many steps is exact.
  const double mean = regular_ > 0 ? static_cast<double>(regular_time_) / static_cast<double>(regular_)
                                   : static_cast<double>(duration);
  const std::int64_t frames = std::llround(static_cast<double>(step) / mean) - 1;
  // Cameras drop single frames, so a single one is not a gap.
  constexpr std::int64_t kMostFrames = 10'000'000;  // longer gaps are damaged times
  const Missing gap{.frames = frames,
                    .places = 1,
                    .begin = static_cast<double>(last + duration) * av_q2d(time_base),
                    .end = static_cast<double>(time) * av_q2d(time_base)};
  const bool is_gap = has_error ? frames >= 1 : frames >= 2 && has_clock && regular_ >= kRegularAround;
  if (!is_gap || frames > kMostFrames) {
    ++irregular_;
  } else if (has_error && counts) {
    add_gap(damaged_, gap);
  } else if (!has_error) {
    irregular_ += std::exchange(last_, {}).places;  // no regular frames have followed it
    last_ = counts ? gap : Missing{};
    regular_at_last_ = regular_;
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
  const bool keeps_rate = irregular_ == 0 && regular_ >= kLeastRegular &&
                          unexplained_.places + last_.places <= 1 + regular_ / kRegularPerGap;
  if (ended && keeps_rate && unexplained_.places > 0) {
    add_gap(all, unexplained_);
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
