// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/frame/frame.h"

namespace limpid::io {

/// In pixels.
struct Size {
  int width = 0;
  int height = 0;
  bool operator==(const Size&) const = default;
};

/// The relation of code values to light.
enum class Transfer : std::uint8_t {
  kSdr,  ///< light of a display; shown without conversion
  kPq,   ///< SMPTE ST 2084
  kHlg,  ///< ARIB STD-B67
};

/// Transformation of the stored picture for display: first transposed (rows become columns), then mirrored.
struct Orientation {
  bool transposed = false;
  bool mirrored_x = false;
  bool mirrored_y = false;
  bool operator==(const Orientation&) const = default;
  bool is_upright() const { return *this == Orientation{}; }
};

/// Properties of a source, in addition to FrameFormat, for displaying its frames. All are specified: missing
/// ones are guessed as described.
struct DisplayProperties {
  ColorMatrix matrix = ColorMatrix::kBt709;  ///< untagged: BT.709 from 720 lines on, BT.601 below
  ColorRange range = ColorRange::kLimited;   ///< untagged: limited for YUV, full for gray and RGB
  /// Position of the first chroma sample relative to the first luma sample, in luma samples; untagged: as in
  /// MPEG-2, (0, 1/2) for 4:2:0.
  double chroma_x = 0;
  double chroma_y = 0;
  Transfer transfer = Transfer::kSdr;
  bool wide_gamut = false;  ///< true: BT.2020 primaries; false: BT.709 or similar primaries
  double peak = 1000;       ///< luminance of the brightest highlights, cd/m2; HDR only
  double pixel_aspect = 1;  ///< pixel aspect ratio of the stored picture, width over height
  Orientation orientation;
};

}  // namespace limpid::io
