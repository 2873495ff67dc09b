// SPDX-License-Identifier: MIT
#pragma once

// Properties of demuxers that libav does not report. Private to io.

#include <cstdint>
#include <string_view>

#include "io/media/libav.h"

namespace limpid::io {

/// Maximum plausible frame rate. libav reports the resolution of the container's clock if it has no other
/// information.
inline constexpr int kGreatestRate = 480;

/// Properties of a container for reading. A default object describes a demuxer without peculiarities.
struct InputTraits {
  enum class End : std::uint8_t { kNone, kGif, kPng, kOgg, kTs };

  std::string_view name;  ///< the first of the demuxer's names
  bool is_matroska = false;
  bool is_mp4 = false;
  bool is_image2 = false;         ///< single pictures or image sequences in files
  bool draws_text = false;        ///< renders text as video; text files are not opened with it
  bool counts_frames = false;     ///< the declared length is a number of frames
  bool exact_length = false;      ///< the declared length is exact
  bool hides_errors = false;      ///< the demuxer reports no error of reading
  bool has_steady_clock = false;  ///< although its clock may jump: gaps indicate missing frames
  bool has_loops = false;         ///< an animation with a number of loops
  End end = End::kNone;           ///< the mark that ends a file
};

const InputTraits& traits_of(const AVInputFormat& format);

/// True for raw streams, which have no container and no times.
inline bool is_raw(const AVInputFormat& format) { return (format.flags & AVFMT_NOTIMESTAMPS) != 0; }

inline bool is_mp4(const AVInputFormat& format) { return traits_of(format).is_mp4; }

/// True for demuxers whose clock may jump, such as those of broadcasts.
inline bool has_jumps(const AVInputFormat& format) { return (format.flags & AVFMT_TS_DISCONT) != 0; }

/// True for demuxers of single pictures or image sequences.
inline bool reads_pictures(const AVInputFormat& format) {
  return traits_of(format).is_image2 || std::string_view(format.name).ends_with("_pipe");
}

/// True if gaps in the times of the video indicate missing frames. Live streams and pictures have no steady
/// clock. In transport streams, gaps without a lost packet are intended; program streams do not count
/// packets.
inline bool has_steady_clock(const AVInputFormat& format) {
  const bool may_pause = has_jumps(format) && !traits_of(format).has_steady_clock;
  return !may_pause && (format.flags & AVFMT_NOFILE) == 0 && !is_raw(format) && !is_device(format);
}

}  // namespace limpid::io
