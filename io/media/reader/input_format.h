// SPDX-License-Identifier: MIT
#pragma once

// Properties of demuxers that follow from their names and flags. Private to io.

#include <string_view>

#include "io/media/libav.h"

namespace limpid::io {

/// Maximum plausible frame rate. libav reports the resolution of the container's clock if it has no other
/// information.
inline constexpr int kGreatestRate = 480;

/// True for raw streams, which have no container and no times.
inline bool is_raw(const AVInputFormat& format) { return (format.flags & AVFMT_NOTIMESTAMPS) != 0; }

/// True for demuxers whose clock may jump, such as those of broadcasts.
inline bool has_jumps(const AVInputFormat& format) { return (format.flags & AVFMT_TS_DISCONT) != 0; }

inline bool is_mp4(const AVInputFormat& format) { return std::string_view(format.name).starts_with("mov,"); }

/// True for demuxers of single pictures or image sequences.
inline bool reads_pictures(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "image2" || name.ends_with("_pipe");
}

/// True for demuxers that render text as video. Text files are not opened with them.
inline bool draws_text(const AVInputFormat& format) {
  const std::string_view name = format.name;
  return name == "tty" || name == "bin" || name == "xbin" || name == "adf" || name == "idf";
}

/// True if gaps in the times of the video indicate missing frames. Live streams and pictures have no steady
/// clock. In transport streams, gaps without a lost packet are intended; program streams do not count
/// packets.
inline bool has_steady_clock(const AVInputFormat& format) {
  const bool may_pause = has_jumps(format) && std::string_view(format.name) != "mpeg";
  return !may_pause && (format.flags & AVFMT_NOFILE) == 0 && !is_raw(format) && !is_device(format);
}

}  // namespace limpid::io
