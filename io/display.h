#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/frame.h"
#include "io/rgb_image.h"

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

/// "BT.709 limited", "BT.2020 limited, PQ tone-mapped": what is done to show it.
std::string to_string(const DisplayProperties& properties, ColorModel color_model);

/// Turns frames of one format into upright pictures for a screen: matrix, range and depth by IEEE floats
/// rounded to nearest, chroma interpolated linearly from where its samples lie, rotation and mirroring. PQ
/// and HLG are tone-mapped: light is brought to BT.709's primaries, 203 cd/m2 (ITU-R BT.2408) becomes the
/// display's white, and a rational curve rolls highlights off. Wide-gamut SDR is brought to BT.709's
/// primaries and clipped. Alpha is not looked at. Immutable, so any number of threads may use one.
class DisplayConverter {
 public:
  /// Works on at most so many threads at a time, whoever calls; 0: as many as there are processors.
  DisplayConverter(const FrameFormat& format, const DisplayProperties& properties, int threads = 0);
  ~DisplayConverter();
  DisplayConverter(const DisplayConverter&) = delete;
  DisplayConverter& operator=(const DisplayConverter&) = delete;
  DisplayConverter(DisplayConverter&&) = delete;
  DisplayConverter& operator=(DisplayConverter&&) = delete;

  /// Size of the upright picture.
  int width() const;
  int height() const;
  /// Width of one of its pixels over the height.
  double pixel_aspect() const;

  /// Resizes `image` and fills it. Throws Error if the frame's format is another.
  void convert(const Frame& frame, RgbImage& image) const;

  /// 128 + gain * (a - b) in each channel, clamped: mid-gray where both are the same. Resizes `out` to the
  /// pictures' size, which is one.
  void amplify_difference(const RgbImage& a, const RgbImage& b, int gain, RgbImage& out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
