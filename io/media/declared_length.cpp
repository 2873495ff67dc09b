#include "io/media/declared_length.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "io/media/libav.h"

namespace limpid::io {
namespace {

/// Matroska's own, a tag such as "00:01:02.500000000".
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

}  // namespace

void DeclaredLength::note(const AVFormatContext& input) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    stream_durations_.push_back(input.streams[i]->duration);
  }
}

std::optional<DeclaredLength::Length> DeclaredLength::of(const AVFormatContext& input,
                                                         const AVStream& video) const {
  const auto index = static_cast<std::size_t>(video.index);
  const bool is_matroska = std::string_view(input.iformat->name).starts_with("matroska");
  if (!is_matroska && index < stream_durations_.size() && stream_durations_[index] > 0) {
    // Of AVI, which counts in frames, libav takes the length from what is there of a file that was cut.
    const bool is_avi = std::string_view(input.iformat->name) == "avi";
    const std::int64_t duration = is_avi ? std::max(video.duration, video.nb_frames) : video.duration;
    std::int64_t end = av_rescale_q(duration, video.time_base, kMicrosecond);
    if (video.start_time != AV_NOPTS_VALUE && input.start_time != AV_NOPTS_VALUE) {
      end += av_rescale_q(video.start_time, video.time_base, kMicrosecond) - input.start_time;
    }
    return Length{end, false};
  }
  if (input.duration <= 0 || input.duration_estimation_method != AVFMT_DURATION_FROM_STREAM) {
    return std::nullopt;
  }
  // Some programs count from zero, some from the first time: what is less may be relied on.
  const std::int64_t first =
      input.start_time == AV_NOPTS_VALUE ? 0 : std::max<std::int64_t>(input.start_time, 0);
  if (const std::optional<std::int64_t> end = is_matroska ? tagged_end(video) : std::nullopt) {
    return Length{std::min(*end, input.duration) - first, false};
  }
  return Length{input.duration - first, true};
}

}  // namespace limpid::io
