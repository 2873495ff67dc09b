#pragma once

// How long a source says that it is. Private to io.

#include <cstdint>
#include <optional>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// What the duration of a fragmented MP4's stream has more than its frames last, in its time base: libav
/// counts it from zero, while the fragments of a live stream may begin hours later.
std::int64_t time_before_fragments(const AVFormatContext& input, const AVStream& video);

/// What the header of a file tells of its video's length, to see whether the file has been cut.
class DeclaredLength {
 public:
  /// After avformat_open_input() and before avformat_find_stream_info(), which guesses what isn't told.
  void note(AVFormatContext& input);

  /// Microseconds from the source's first time to the end of the video; nothing if the header doesn't tell.
  /// If `of_container`, that is the end of the longest stream.
  struct Length {
    std::int64_t microseconds = 0;
    bool of_container = false;
  };
  std::optional<Length> of(const AVFormatContext& input, const AVStream& video) const;

 private:
  std::vector<std::int64_t> stream_durations_;  ///< in their time bases
  bool is_whole_matroska_ = false;              ///< the file has all bytes that its header tells of
};

}  // namespace limpid::io
