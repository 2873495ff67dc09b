#pragma once

// Properties of demuxers that follow from their names and flags. Private to io.

#include <string_view>

#include "io/media/libav.h"

namespace limpid::io {

/// Maximum plausible frame rate. Without any other information, libav reports the resolution of the
/// container's clock.
inline constexpr int kGreatestRate = 480;

/// True for streams without a container, and so without times.
inline bool is_raw(const AVInputFormat& format) { return (format.flags & AVFMT_NOTIMESTAMPS) != 0; }

/// True for demuxers whose clock may jump, as that of broadcasts does.
inline bool has_jumps(const AVInputFormat& format) { return (format.flags & AVFMT_TS_DISCONT) != 0; }

inline bool is_mp4(const AVInputFormat& format) { return std::string_view(format.name).starts_with("mov,"); }

/// True for demuxers of pictures, single ones or sequences.
inline bool reads_pictures(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "image2" || name.ends_with("_pipe");
}

/// True for demuxers that render text as video, which is not intended for a text file.
inline bool draws_text(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "tty" || name == "bin" || name == "xbin" || name == "adf" || name == "idf";
}

/// True if the times of the video show missing frames: live streams and pictures have no steady clock.
inline bool has_steady_clock(const AVInputFormat& format) {
  return (format.flags & (AVFMT_TS_DISCONT | AVFMT_NOFILE)) == 0 && !is_raw(format) && !is_device(format);
}

}  // namespace limpid::io
