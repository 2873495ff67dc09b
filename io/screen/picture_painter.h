// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/screen/window.h"

namespace limpid::io {

/// The picture that is drawn from the two frames of a PicturePainter.
enum class PictureChoice : std::uint8_t { kFirst, kSecond, kDifference };

struct PictureDrawing {
  Rectangle source;     ///< of the upright picture, in its pixels
  Rectangle target;     ///< of the window
  Rectangle clip;       ///< part of the window outside of which nothing is drawn
  bool smooth = false;  ///< true: interpolated; false: the nearest sample
  PictureChoice choice = PictureChoice::kFirst;
  /// Values of the shaders by name: `gain` of the smoothed difference of brightness, first - second, around
  /// mid-gray.
  std::map<std::string, double> values = {};
  bool mirrored = false;  ///< left and right are exchanged
};

/// Draws frames of one format as upright pictures in the drawing area of a Window, by shaders of OpenGL:
/// matrix, range, depth, position of chroma, rotation and tone mapping as in screen_picture(). Samples reach
/// the GPU as they are stored. Belongs to the thread of the window, which must exist longer.
class PicturePainter : NotCopyable {
 public:
  /// Throws Error if the display does not support the shaders.
  PicturePainter(const FrameFormat& format, const DisplayProperties& properties);
  ~PicturePainter();

  /// Returns an allocator of frames in a GPU's memory, which set_first() and set_second() show without a copy
  /// through the host's memory. It is thread-safe; it and its frames may outlive the painter. Throws Error,
  /// with the reason, if the display does not support it.
  FramePool::Allocator share(const MemoryDomain& memory);

  /// Uploads the samples of a frame in host memory, or copies those of one in the memory of share(); the
  /// frame is not kept. Planes that are larger than the textures of the display are uploaded without some
  /// rows and columns. Throws Error if the format of the frame is another.
  void set_first(const Frame& frame);
  void set_second(const Frame& frame);

  /// Draws frames that have been set.
  void draw(const PictureDrawing& drawing, Size window);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
