#pragma once

// What a Writer takes from a Reader. Private to io.

#include <cstdint>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/time_range.h"

namespace limpid::io {

struct Source {
  std::string url;
  const AVFormatContext& input;  ///< streams, chapters and tags
  const AVStream& video;
  const AVFrame& first;           ///< tags and side data of the first frame, without its samples
  FrameFormat format;             ///< of the frames that the Reader delivers
  std::vector<bool> copied;       ///< by stream index: the Reader delivers its packets
  AVRational average_rate{0, 1};  ///< frames per second; 0/1 if unknown
  AVRational base_rate{0, 1};     ///< of a grid of times that libav has found; 0/1 if there is none
  AVRational sample_aspect_ratio{0, 1};
  int skipped_frames = 0;        ///< before the range
  std::int64_t time_offset = 0;  ///< microseconds that the Reader adds to all times
  TimeRange range;
};

}  // namespace limpid::io
