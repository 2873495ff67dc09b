#pragma once

// The view that Writer and AudioOutput have of a Reader's source. Private to io.

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/time_range.h"

namespace limpid::io {

/// Valid as long as the Reader.
struct Source {
  std::string url;
  AVFormatContext& input;  ///< streams, chapters and tags
  const AVStream& video;
  const AVFrame& first;        ///< tags and side data of the first frame, without its samples
  FrameFormat format;          ///< of the frames that the Reader delivers
  bool has_fractions = false;  ///< `format` has more bits than the source for ReaderOptions::fraction_bits
  std::vector<bool> copied;    ///< by stream index: the Reader delivers its packets
  /// Frames per second: on average, and of a grid of times that libav has found. 0/1 if not known.
  AVRational average_rate{0, 1};
  AVRational base_rate{0, 1};
  AVRational sample_aspect_ratio{0, 1};
  TimeRange range;
  int skipped_frames = 0;        ///< frames of the source, at its average rate, before the range
  std::int64_t time_offset = 0;  ///< microseconds that the Reader adds to all times
  bool is_pipe = false;
  std::int64_t first_picture =
      1;  ///< number of the first picture of a sequence that is read; 1 for other sources
};

}  // namespace limpid::io
