// SPDX-License-Identifier: MIT
#pragma once

#include <imgui.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/media/size.h"
#include "io/screen/rgb_image.h"
#include "io/screen/window.h"

namespace limpid::io {

/// The controls over the picture of a Window: Dear ImGui, in the font of the desktop, with the events of the
/// pointer, and of keys while has_keyboard(). Between begin() and end(), callers use ImGui's functions.
/// Belongs to the thread of the window, which must exist longer; one at a time.
class ControlLayer {
 public:
  ControlLayer();
  ~ControlLayer();
  ControlLayer(const ControlLayer&) = delete;
  ControlLayer& operator=(const ControlLayer&) = delete;
  ControlLayer(ControlLayer&&) = delete;
  ControlLayer& operator=(ControlLayer&&) = delete;

  /// Takes events of the pointer and of keys, which the next frames see one after the other.
  void handle(const WindowEvent& event);
  /// True if a press has not been seen yet: another frame is to be drawn.
  bool has_events() const;
  /// True while a list is open or text is typed: keys are for the controls of the last frame.
  bool has_keyboard() const;
  /// True if the pointer is on a control of the last frame, or holds one.
  bool has_pointer() const;

  /// Begins a frame. `scale`: Window::scale().
  void begin(Size window, double scale);
  /// Draws the frame.
  void end();

  /// Uploads a picture, and returns its texture for ImGui's functions. `number`: any number of the caller,
  /// from 0, densely; the texture of a number is valid until its next picture.
  ImTextureID picture(std::size_t number, const RgbImage& image);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
