// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/player/noise_area.h"
#include "app/player/player_screen.h"
#include "app/player/view.h"
#include "io/screen/window.h"

namespace limpid::app {

/// The pointer on the picture: it drags the split line, the picture and the noise area, marks an area with
/// the right button, pauses with a click, and zooms with the wheel. The controls receive the same events.
class PictureMouse {
 public:
  PictureMouse(PlayerScreen& screen, NoiseArea& area, const ViewState& state)
      : screen_(screen), area_(area), state_(state) {}

  /// Takes an event of the pointer that is not on the controls. The line to execute, or nothing.
  std::string handle(const io::WindowEvent& event);
  /// A button is released anywhere. `has_frame`: there is something to pause or to measure.
  std::string release(const io::WindowEvent& event, bool has_frame);

  /// True while a button is held that was pressed on the picture.
  bool holds_picture() const { return holds_picture_; }
  /// The last position, in pixels of the window.
  View::Point position() const { return position_; }
  /// The last position, or the middle if that was not on a picture, in pixels of the area of a picture.
  View::Point zoom_point() const;
  /// The position in the picture, which may be outside of it.
  View::Point pixel() const;
  /// Counts presses, of which a double click is one.
  std::uint64_t gesture() const { return gesture_; }
  void count(const io::WindowEvent& press) { gesture_ += press.clicks == 2 ? 0 : 1; }

 private:
  bool press(const io::WindowEvent& event);
  void drag(const io::WindowEvent& event);
  bool grab_area(const io::WindowEvent& event);
  View::Point in_picture(const io::WindowEvent& event) const;
  bool has_line() const { return state_.side == Side::kSplit || state_.side == Side::kPair; }

  PlayerScreen& screen_;
  NoiseArea& area_;
  const ViewState& state_;
  View::Point position_;
  std::uint64_t gesture_ = 1;
  bool was_pressed_ = false;  ///< a button, since the window shows this source
  bool holds_picture_ = false;
  double dragged_ = 0;                 ///< pixels that the pointer has moved since the press
  double picture_left_ = 0;            ///< left edge of the picture on which a button was pressed
  std::optional<View::Point> corner_;  ///< where the right button was pressed, in the area of the picture
};

}  // namespace limpid::app
