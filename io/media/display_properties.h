#pragma once

#include <cstdint>

#include "core/frame/frame.h"

namespace limpid::io {

/// How code values relate to light.
enum class Transfer : std::uint8_t {
  kSdr,  ///< made for displays as they are: shown without a change
  kPq,   ///< SMPTE ST 2084
  kHlg,  ///< ARIB STD-B67
};

/// How the stored picture is to be turned for looking at it: first transposed (rows become columns), then
/// mirrored.
struct Orientation {
  bool transposed = false;
  bool mirrored_x = false;
  bool mirrored_y = false;
  bool operator==(const Orientation&) const = default;
  bool is_upright() const { return *this == Orientation{}; }
};

/// What has to be known of a source, beyond FrameFormat, to show its frames. Nothing is unspecified here:
/// what the source doesn't tell is guessed as described.
struct DisplayProperties {
  ColorMatrix matrix = ColorMatrix::kBt709;  ///< untagged: BT.709 from 720 lines on, BT.601 below
  ColorRange range = ColorRange::kLimited;   ///< untagged: limited for YUV, full for gray and RGB
  /// Position of the first chroma sample, in luma samples from the first luma sample's; untagged: as in
  /// MPEG-2, (0, 1/2) for 4:2:0.
  double chroma_x = 0;
  double chroma_y = 0;
  Transfer transfer = Transfer::kSdr;
  bool wide_gamut = false;  ///< BT.2020 primaries, else BT.709's or near enough
  double peak = 1000;       ///< luminance of the brightest highlights, cd/m2; HDR only
  double pixel_aspect = 1;  ///< width of a pixel over its height, of the stored picture
  Orientation orientation;
};

}  // namespace limpid::io
