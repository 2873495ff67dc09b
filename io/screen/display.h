// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/screen/rgb_image.h"

namespace limpid::io {

/// The conversion for the screen: "BT.709 limited", "BT.2020 limited, PQ tone-mapped".
std::string to_string(const DisplayProperties& properties, ColorModel color_model);

/// Converts frames of one format to upright pictures for a screen: matrix, range and depth by IEEE floats
/// rounded to nearest, chroma interpolated linearly from where its samples lie, rotation and mirroring. PQ
/// and HLG are tone-mapped: light is brought to BT.709's primaries, 203 cd/m2 (ITU-R BT.2408) becomes the
/// display's white, and a rational curve rolls highlights off. Wide-gamut SDR is brought to BT.709's
/// primaries and clipped. swscale is not used: it rounds chroma positions and has no tone mapping. Alpha is
/// ignored. Immutable, so any number of threads may use one.
class DisplayConverter : NotCopyable {
 public:
  /// `threads`: the greatest number of threads at a time, for all callers together; 0: one per processor.
  DisplayConverter(const FrameFormat& format, const DisplayProperties& properties, int threads = 0);
  ~DisplayConverter();

  /// Size of the upright picture.
  int width() const;
  int height() const;
  /// Width of one of its pixels over the height.
  double pixel_aspect() const;

  /// Resizes `image` and fills it. Throws Error if the frame's format is another.
  void convert(const Frame& frame, RgbImage& image) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
