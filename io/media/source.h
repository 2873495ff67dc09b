#pragma once

// The part of a Reader's source that Writer and AudioOutput use. Private to io.

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/time_range.h"

namespace limpid::io {

/// Valid during the Reader's lifetime.
struct Source {
  std::string url;
  AVFormatContext& input;  ///< streams, chapters and tags
  const AVStream& video;
  const AVFrame& first;                     ///< tags and side data of the first frame, without its samples
  FrameFormat format;                       ///< of the frames that the Reader delivers
  AVPixelFormat decoded = AV_PIX_FMT_NONE;  ///< the decoder's pixel format
  bool has_fractions = false;  ///< `format` has more bits than the source for ReaderOptions::fraction_bits
  std::vector<bool> copied;    ///< by stream index: true if the Reader delivers its packets
  /// Frames per second: on average, and of the grid of times that libav has detected. 0/1 if unknown.
  AVRational average_rate{0, 1};
  AVRational base_rate{0, 1};
  AVRational sample_aspect_ratio{0, 1};
  TimeRange range;
  int skipped_frames = 0;        ///< number of the source's frames, at its average rate, before the range
  std::int64_t time_offset = 0;  ///< microseconds that the Reader adds to all times
  bool is_pipe = false;
  std::int64_t first_picture = 1;  ///< number of the first picture of a sequence; 1 for other sources
};

}  // namespace limpid::io
