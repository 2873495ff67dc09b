// SPDX-License-Identifier: MIT
#include "io/media/writer/chapters.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "io/media/writer/tags.h"

namespace limpid::io {
namespace {

/// For memory from libav's own allocator, which libav frees together with the muxer.
template <typename T>
T* required(void* memory) {
  if (memory == nullptr) {
    throw Error("out of memory");
  }
  return static_cast<T*>(memory);
}

struct Span {
  std::int64_t start;
  std::int64_t end;
};

/// The chapter's position in the file, in its own time base; nothing if it is not in the file.
std::optional<Span> written_part(const AVChapter& chapter, const Source& source, std::int64_t frame_limit) {
  const std::int64_t offset = av_rescale_q(source.time_offset, kMicrosecond, chapter.time_base);
  std::int64_t start = chapter.start + offset;
  std::int64_t end = chapter.end + offset;
  if (!source.range.clip(start, end, chapter.time_base) &&
      (source.range.has_begin() || source.range.has_end())) {
    return std::nullopt;
  }
  if (frame_limit > 0 && source.average_rate.num > 0) {
    const std::int64_t begin = source.range.has_begin() || source.first.pts == AV_NOPTS_VALUE
                                   ? 0
                                   : av_rescale_q(source.first.pts, source.time_base, kMicrosecond);
    end = std::min(end, av_rescale_q(begin, kMicrosecond, chapter.time_base) +
                            av_rescale_q(frame_limit, av_inv_q(source.average_rate), chapter.time_base));
    if (start >= end) {
      return std::nullopt;
    }
  }
  start = std::max<std::int64_t>(start, 0);
  return Span{start, std::max(end, start)};
}

}  // namespace

void copy_chapters(AVFormatContext& muxer, const Source& source, std::int64_t frame_limit) {
  const AVFormatContext& input = source.input;
  if (input.nb_chapters == 0) {
    return;
  }
  muxer.chapters = required<AVChapter*>(av_calloc(input.nb_chapters, sizeof(AVChapter*)));
  for (unsigned i = 0; i < input.nb_chapters; ++i) {
    const AVChapter& from = *input.chapters[i];
    const std::optional<Span> part = written_part(from, source, frame_limit);
    if (!part) {
      continue;
    }
    AVChapter& to = *required<AVChapter>(av_mallocz(sizeof(AVChapter)));
    muxer.chapters[muxer.nb_chapters++] = &to;
    to.id = from.id;
    to.time_base = from.time_base;
    to.start = part->start;
    to.end = part->end;
    copy_tags(&to.metadata, from.metadata);
  }
}

}  // namespace limpid::io
