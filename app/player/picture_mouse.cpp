// SPDX-License-Identifier: MIT
#include "app/player/picture_mouse.h"

#include <cmath>
#include <utility>

namespace limpid::app {

std::string PictureMouse::handle(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  switch (event.kind) {
    case Kind::kPointer:
      position_ = {event.x, event.y};
      if (screen_.split().point(event.x, screen_.stage().width) && has_line()) {
        screen_.redraw();
      }
      break;
    case Kind::kDrag:
      drag(event);
      break;
    case Kind::kPress:
      return press(event) ? "toggle full-screen" : "";
    case Kind::kLeave:
      screen_.split().leave();
      screen_.redraw();
      break;
    case Kind::kWheel:
      if (event.dy != 0) {
        position_ = {event.x, event.y};
        return event.dy > 0 ? "wheel in" : "wheel out";
      }
      break;
    default:
      break;
  }
  return "";
}

// Returns true for a double click.
bool PictureMouse::press(const io::WindowEvent& event) {
  // The first press of a double click may have chosen this source in the window of another one.
  if (event.clicks == 2 && !std::exchange(was_pressed_, true)) {
    return false;
  }
  was_pressed_ = true;
  holds_picture_ = true;
  dragged_ = 0;
  const int half = screen_.picture_area(state_.side).width;
  picture_left_ = state_.side == Side::kSideBySide && event.x >= half ? half : 0;
  return !grab_area(event) && event.clicks == 2 && !event.right;
}

View::Point PictureMouse::in_picture(const io::WindowEvent& event) const {
  return screen_.view().to_picture({event.x - picture_left_, event.y}, screen_.picture_area(state_.side));
}

View::Point PictureMouse::pixel() const {
  const io::Size area = screen_.picture_area(state_.side);
  const bool is_right = state_.side == Side::kSideBySide && position_.x >= area.width;
  return screen_.view().to_picture({position_.x - (is_right ? area.width : 0), position_.y}, area);
}

View::Point PictureMouse::zoom_point() const {
  const io::Size area = screen_.picture_area(state_.side);
  const bool is_right = state_.side == Side::kSideBySide && position_.x >= area.width;
  const View::Point at{position_.x - (is_right ? area.width : 0), position_.y};
  const bool is_on_picture = at.x >= 0 && at.y >= 0 && at.x < area.width && at.y < area.height;
  return is_on_picture ? at : View::Point{area.width / 2.0, area.height / 2.0};
}

// Returns true if the pointer holds the box now.
bool PictureMouse::grab_area(const io::WindowEvent& event) {
  if (!area_.box() || event.right || !screen_.shows_controls()) {
    return false;
  }
  io::WindowEvent neighbor = event;
  neighbor.x += 1;
  const View::Point at = in_picture(event);
  return area_.box()->grab(at.x, at.y, NoiseBox::kHandle * screen_.scale() * (in_picture(neighbor).x - at.x));
}

void PictureMouse::drag(const io::WindowEvent& event) {
  dragged_ += std::abs(event.dx) + std::abs(event.dy);
  screen_.redraw();
  if (event.right) {
    const double x = event.x - picture_left_;
    corner_ = corner_.value_or(View::Point{x - event.dx, event.y - event.dy});
    area_.mark(
        screen_.view().picture_part(corner_->x, corner_->y, x, event.y, screen_.picture_area(state_.side)));
    return;
  }
  if (area_.box() && area_.box()->is_held()) {
    const View::Point at = in_picture(event);
    return area_.box()->drag(at.x, at.y);
  }
  const bool picture_moves = screen_.view().zoom() > 0 || !has_line();
  position_ = {event.x, event.y};
  if (!screen_.split().drag(event.x - event.dx, event.x, screen_.stage().width, event.touch, picture_moves)) {
    screen_.view().pan(event.dx, event.dy, screen_.picture_area(state_.side));
  }
}

std::string PictureMouse::release(const io::WindowEvent& event, bool has_frame) {
  constexpr double kClick = 4;
  const bool held_area = area_.box() && area_.box()->is_held();
  const bool moved_area = held_area && area_.box()->release();
  std::string line;
  if (((event.right && area_.is_marked_now()) || moved_area) && has_frame) {
    line = "measure-noise";
  } else if (holds_picture_ && !held_area && !event.right && dragged_ < kClick && has_frame) {
    line = "toggle pause";
  }
  holds_picture_ = false;
  corner_.reset();
  area_.end_mark();
  screen_.split().release();
  return line;
}

}  // namespace limpid::app
