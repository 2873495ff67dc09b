// SPDX-License-Identifier: MIT
#include "io/media/reader/health.h"

#include <array>
#include <cmath>
#include <cstdio>

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

namespace {

std::string length_text(std::int64_t microseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(microseconds) / AV_TIME_BASE);
  return text.data();
}

std::string from_frame(std::int64_t index) { return "from frame " + std::to_string(index) + " on its "; }

/// An unknown ratio counts as square.
AVRational aspect_of(const AVFrame& frame) {
  const AVRational aspect = frame.sample_aspect_ratio;
  return aspect.num > 0 && aspect.den > 0 ? aspect : AVRational{1, 1};
}

std::string text_of(AVRational ratio) { return std::to_string(ratio.num) + ":" + std::to_string(ratio.den); }

std::string text_of(const char* name) { return name == nullptr ? "unknown" : name; }

/// True if both frames have a tag, and they differ.
template <typename Tag>
bool differ(Tag first, Tag other, Tag unspecified) {
  return first != unspecified && other != unspecified && first != other;
}

}  // namespace

void Health::note_container_error(std::string line) {
  if (pending_error_.empty()) {
    pending_error_ = std::move(line);
  }
}

void Health::note_packet(const AVPacket& packet, AVRational time_base, bool has_clock, bool is_inside) {
  gaps_.add(packet, time_base, !pending_error_.empty(), is_inside, has_clock);
  if (is_inside) {
    count_container_error();
  }
  pending_error_.clear();
}

void Health::count_container_error() {
  const std::string error = std::exchange(pending_error_, {});
  if (error.empty()) {
    return;
  }
  first_container_error_ = container_errors_ == 0 ? error : first_container_error_;
  ++container_errors_;
}

void Health::note_end(bool interrupted, bool in_mid_frame, bool is_pipe) {
  at_true_end_ = failure_.empty() && !interrupted;
  if (at_true_end_ && damage_.empty() && in_mid_frame) {
    (is_pipe ? failure_ : shortfall_) = "it ends in the middle of a frame";
  }
  end_error_ = std::exchange(pending_error_, {});
}

void Health::note_missing_end(std::string text) {
  if (at_true_end_ && failure_.empty() && shortfall_.empty()) {
    shortfall_ = std::move(text);
  }
}

void Health::note_frame_count(std::int64_t delivered, std::int64_t declared) {
  if (at_true_end_ && failure_.empty() && shortfall_.empty() && delivered < declared) {
    shortfall_ = std::to_string(declared - delivered) + " of the " + std::to_string(declared) +
                 " frames that it declares are missing";
  }
}

void Health::note_length(std::int64_t length, std::int64_t declared, std::int64_t tolerance) {
  if (at_true_end_ && failure_.empty() && shortfall_.empty() && length + tolerance < declared) {
    shortfall_ = "it ends after " + length_text(length) + " of the " + length_text(declared) +
                 " that its header declares";
  }
}

void Health::forget_position() {
  shortfall_.clear();
  pending_error_.clear();
  end_error_.clear();
  holds_end_error_ = false;
  gaps_.forget_position();
  at_true_end_ = false;
}

void Health::note_cropping(std::string applied, std::string ignored) {
  cropping_ = std::move(applied);
  ignored_cropping_ = std::move(ignored);
}

void Health::note_decoder_errors(std::int64_t packets, const std::string& first) {
  if (packets > decoder_errors_) {
    decoder_errors_ = packets;
    first_decoder_error_ = first;
  }
}

void Health::note_frame(const DecodedFrame& decoded) {
  damaged_frames_ += decoded.is_damaged ? 1 : 0;
  wrong_checksums_ += decoded.has_wrong_checksum ? 1 : 0;
  wrong_times_ += decoded.has_wrong_time ? 1 : 0;
}

void Health::note_scan(const AVFrame& first, const AVFrame& frame, std::int64_t index) {
  if (!scan_change_.empty() || !is_interlaced(frame)) {
    return;
  }
  const bool is_as_begun = is_interlaced(first) && is_top_field_first(first) == is_top_field_first(frame);
  if (!is_as_begun) {
    scan_change_ = "from frame " + std::to_string(index) + " on it is interlaced, " +
                   (is_top_field_first(frame) ? "top" : "bottom") + " field first";
  }
}

void Health::note_display(const AVFrame& first, const AVFrame& frame, std::int64_t index) {
  constexpr double kNoticeable = 0.005;
  const AVRational before = aspect_of(first);
  const AVRational now = aspect_of(frame);
  if (aspect_change_.empty() && std::abs(av_q2d(now) / av_q2d(before) - 1) > kNoticeable) {
    aspect_change_ =
        from_frame(index) + "pixel aspect ratio is " + text_of(now) + " instead of " + text_of(before);
  }
  if (!color_change_.empty()) {
    return;
  }
  if (differ(first.color_trc, frame.color_trc, AVCOL_TRC_UNSPECIFIED)) {
    color_change_ = from_frame(index) + "transfer is " + text_of(av_color_transfer_name(frame.color_trc)) +
                    " instead of " + text_of(av_color_transfer_name(first.color_trc));
  } else if (differ(first.color_primaries, frame.color_primaries, AVCOL_PRI_UNSPECIFIED)) {
    color_change_ = from_frame(index) + "primaries are " +
                    text_of(av_color_primaries_name(frame.color_primaries)) + " instead of " +
                    text_of(av_color_primaries_name(first.color_primaries));
  }
}

Diagnostics Health::diagnostics(bool is_complete) const {
  using Kind = Diagnostic::Kind;
  Diagnostics all;
  for (const auto& [kind, text] : {std::pair{Kind::kFailure, &failure_},
                                   {Kind::kDamage, &damage_},
                                   {Kind::kShortfall, &shortfall_},
                                   {Kind::kScanChange, &scan_change_},
                                   {Kind::kAspectChange, &aspect_change_},
                                   {Kind::kColorChange, &color_change_},
                                   {Kind::kIgnoredCropping, &ignored_cropping_},
                                   {Kind::kCropping, &cropping_}}) {
    if (!text->empty()) {
      all.push_back({.kind = kind, .text = *text});
    }
  }
  if (const auto& [text, count] = missing_pictures_; count > 0) {
    all.push_back({.kind = Kind::kMissingFrames, .text = text, .count = count});
  }
  if (const FrameGaps::Missing missing = gaps_.missing(at_true_end_ || is_complete); missing.places > 0) {
    all.push_back({.kind = Kind::kMissingFrames, .text = text_of(missing), .count = missing.frames});
  }
  const bool is_explained = holds_end_error_ || !failure_.empty() || !damage_.empty() || !shortfall_.empty();
  const std::int64_t errors = container_errors_ + (end_error_.empty() || is_explained ? 0 : 1);
  if (errors > 0) {
    all.push_back({.kind = Kind::kContainerErrors,
                   .text = container_errors_ > 0 ? first_container_error_ : end_error_,
                   .count = errors});
  }
  // A packet with an error is often reported by a code or a mark, too.
  if (decoder_errors_ > damaged_packets_ + damaged_frames_ + wrong_checksums_) {
    all.push_back({.kind = Kind::kDecoderErrors, .text = first_decoder_error_, .count = decoder_errors_});
  }
  for (const auto& [kind, count] : {std::pair{Kind::kDamagedPackets, damaged_packets_},
                                    {Kind::kDamagedFrames, damaged_frames_},
                                    {Kind::kWrongChecksums, wrong_checksums_},
                                    {Kind::kWrongTimes, wrong_times_},
                                    {Kind::kConvertedFrames, converted_frames_}}) {
    if (count > 0) {
      all.push_back({.kind = kind, .text = {}, .count = count});
    }
  }
  return all;
}

}  // namespace limpid::io
