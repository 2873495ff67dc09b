// SPDX-License-Identifier: MIT
#pragma once

// The length of a source according to its header. Private to io.

#include <cstdint>
#include <optional>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// The time by which the duration of a stream in a fragmented MP4 exceeds the duration of its frames, in the
/// stream's time base. libav counts the duration from zero, but the fragments of a live stream may begin
/// hours later.
std::int64_t time_before_fragments(const AVFormatContext& input, const AVStream& video);

/// The length of a file's video according to its header, for the detection of truncated files.
class DeclaredLength {
 public:
  /// Reads the header's values. Must be called after avformat_open_input() and before
  /// avformat_find_stream_info(), which estimates missing values.
  void note(AVFormatContext& input);

  /// Microseconds from the source's first time to the end of the video; nothing if the header does not
  /// contain it. If `of_container`, the time to the end of the longest stream.
  struct Length {
    std::int64_t microseconds = 0;
    bool of_container = false;
    bool is_exact = false;  ///< a number of frames
  };
  std::optional<Length> of(const AVFormatContext& input, const AVStream& video) const;

 private:
  std::vector<std::int64_t> stream_durations_;  ///< durations of the streams, in their time bases
  bool is_whole_matroska_ = false;              ///< the file has all bytes that its header declares
};

}  // namespace limpid::io
