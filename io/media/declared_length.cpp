// SPDX-License-Identifier: MIT
#include "io/media/declared_length.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/media/container_header.h"
#include "io/media/input_format.h"
#include "io/media/libav.h"

namespace limpid::io {
namespace {

/// Matroska's length tag of a stream, such as "00:01:02.500000000".
std::optional<std::int64_t> tagged_end(const AVStream& stream) {
  const AVDictionaryEntry* const tag =
      av_dict_get(stream.metadata, "DURATION", nullptr, AV_DICT_IGNORE_SUFFIX);
  int hours = 0;
  int minutes = 0;
  double seconds = 0;
  if (tag == nullptr || std::sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) != 3) {
    return std::nullopt;
  }
  return std::llround((hours * 3600.0 + minutes * 60.0 + seconds) * AV_TIME_BASE);
}

/// True if the Segment ends within the file. Does not change the position.
bool has_whole_segment(AVIOContext& bytes) {
  constexpr std::uint32_t kSegment = 0x18538067;
  const std::int64_t position = avio_tell(&bytes);
  ContainerHeader header(bytes, ContainerHeader::Kind::kMatroska);
  const Part segment = header.find(header.file(), kSegment);
  avio_seek(&bytes, position, SEEK_SET);
  return segment.is_whole && segment.end > segment.begin;
}

}  // namespace

std::int64_t time_before_fragments(const AVFormatContext& input, const AVStream& video) {
  const bool is_fragmented = is_mp4(*input.iformat) && video.nb_frames == 0;
  const bool is_counted =
      is_fragmented && video.start_time != AV_NOPTS_VALUE && video.start_time < video.duration;
  return is_counted ? std::max<std::int64_t>(video.start_time, 0) : 0;
}

void DeclaredLength::note(AVFormatContext& input) {
  is_whole_matroska_ = traits_of(*input.iformat).is_matroska && input.pb != nullptr &&
                       (input.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0 && has_whole_segment(*input.pb);
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    stream_durations_.push_back(input.streams[i]->duration);
  }
}

std::optional<DeclaredLength::Length> DeclaredLength::of(const AVFormatContext& input,
                                                         const AVStream& video) const {
  if (is_whole_matroska_) {
    return std::nullopt;  // the duration of its last frame is in its header only
  }
  const auto index = static_cast<std::size_t>(video.index);
  const InputTraits& traits = traits_of(*input.iformat);
  if (!traits.is_matroska && index < stream_durations_.size() && stream_durations_[index] > 0) {
    const std::int64_t duration =
        traits.counts_frames ? std::max(video.duration, video.nb_frames) : video.duration;
    std::int64_t end =
        av_rescale_q(duration - time_before_fragments(input, video), video.time_base, kMicrosecond);
    if (video.start_time != AV_NOPTS_VALUE && input.start_time != AV_NOPTS_VALUE) {
      end += av_rescale_q(video.start_time, video.time_base, kMicrosecond) - input.start_time;
    }
    return Length{.microseconds = end, .of_container = false, .is_exact = traits.exact_length};
  }
  if (input.duration <= 0 || input.duration_estimation_method != AVFMT_DURATION_FROM_STREAM) {
    return std::nullopt;
  }
  // Some programs count from zero, some from the first time; the smaller value is certain.
  const std::int64_t first =
      input.start_time == AV_NOPTS_VALUE ? 0 : std::max<std::int64_t>(input.start_time, 0);
  if (const std::optional<std::int64_t> end = traits.is_matroska ? tagged_end(video) : std::nullopt) {
    return Length{.microseconds = std::min(*end, input.duration) - first};
  }
  return Length{.microseconds = input.duration - first, .of_container = true};
}

}  // namespace limpid::io
