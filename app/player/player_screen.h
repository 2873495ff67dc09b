// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/player/controls.h"
#include "app/player/noise_area.h"
#include "app/player/osd.h"
#include "app/player/played_frame.h"
#include "app/player/view.h"
#include "app/player/viewer_options.h"
#include "core/base/not_copyable.h"
#include "io/screen/control_layer.h"
#include "io/screen/display.h"
#include "io/screen/picture_painter.h"
#include "io/screen/window.h"

namespace limpid::app {

class Viewer;

/// The window with the pictures, the texts over them and the controls.
class PlayerScreen : NotCopyable {
 public:
  using Clock = std::chrono::steady_clock;

  explicit PlayerScreen(const ViewerOptions& options);
  /// The options' function for a lost display may refer to what no longer exists.
  ~PlayerScreen() { window_->set_display_lost({}); }

  io::Window& window() const { return *window_; }
  const std::shared_ptr<io::Window>& shared_window() const { return window_; }
  io::PicturePainter& painter() { return painter_; }
  io::ControlLayer& layer() { return layer_; }
  Controls& controls() { return controls_; }
  const Controls& controls() const { return controls_; }
  View& view() { return view_; }
  const View& view() const { return view_; }
  SplitLine& split() { return split_; }
  const SplitLine& split() const { return split_; }

  /// Size of the area for pictures, beside the open panel.
  io::Size stage() const { return controls_.stage(window_->size(), scale()); }
  /// Size of the area for one picture.
  io::Size picture_area(Side side) const {
    io::Size area = stage();
    area.width /= side == Side::kSideBySide ? 2 : 1;
    return area;
  }
  /// The part of the picture that is visible above the bar.
  io::Rectangle seen_part(Side side) const {
    const io::Size area = picture_area(side);
    const int bar = Controls::bar_height(scale());
    return view_.picture_part(0, 0, area.width, std::min(area.height, window_->size().height - bar), area);
  }
  /// Column of the picture at the split line.
  int split_column() const { return view_.picture_column(split_.column(stage().width), stage()); }
  /// Pixels to 1/96 inch.
  double scale() const { return window_->scale() * options_.text_size; }
  bool shows_controls() const { return controls_.is_visible(Clock::now()); }

  /// Requests another drawing.
  void redraw() { redraw_ = true; }
  /// Requests as many drawings as the controls need to show the effect of an event.
  void redraw_controls();
  bool needs_drawing() const { return redraw_ && window_->is_visible(); }
  /// Adapts the screen to time: controls hide, and tooltips appear.
  void follow(Clock::time_point now);
  /// Adapts the screen to another size of the window.
  void follow_size();
  /// The frame has changed: its pictures must be uploaded.
  void forget_pictures() { noisy_uploaded_ = denoised_uploaded_ = false; }

  /// Draws everything. The file that was chosen in the list of files.
  std::optional<std::filesystem::path> draw(Viewer& viewer, FileList& files);
  /// Draws the texts alone, before the first frame.
  void draw_opening(const Viewer& viewer) {
    window_->clear();
    begin();
    draw_text(viewer);
    layer_.end();
  }
  /// Shows what has been drawn.
  void present() {
    window_->present();
    redraw_ = layer_.has_events() || settling_-- > 0;
  }

 private:
  int text_line() const { return text_size(window_->size(), window_->scale(), options_.text_size); }
  int bottom_of_pictures(const Viewer& viewer) const;
  void begin() { layer_.begin(window_->size(), scale(), text_line()); }
  void upload_pictures(const Viewer& viewer, Side side);
  void draw_picture(const Viewer& viewer);
  void draw_line() const;
  void draw_box(const NoiseArea& noise, Side side) const;
  void draw_recording(const std::string& text);
  void draw_labels(const Viewer& viewer);
  void draw_text(const Viewer& viewer);

  const ViewerOptions& options_;
  const std::shared_ptr<io::Window> window_;
  io::PicturePainter painter_;
  io::ControlLayer layer_;
  Controls controls_;
  View view_;
  SplitLine split_;
  io::Size window_size_;
  bool controls_were_visible_ = false;
  bool redraw_ = true;
  int settling_ = 0;             ///< frames of controls to be drawn until an event shows
  bool noisy_uploaded_ = false;  ///< of the shown frame
  bool denoised_uploaded_ = false;
};

/// The side that is shown: a frame that is not denoised yet is shown noisy.
Side shown_side(const PlayedFrame& frame, Side side);

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
  View::Point pixel() const {
    const io::Size area = screen_.picture_area(state_.side);
    const bool is_right = state_.side == Side::kSideBySide && position_.x >= area.width;
    return screen_.view().to_picture({position_.x - (is_right ? area.width : 0), position_.y}, area);
  }
  /// Counts presses, of which a double click is one.
  std::uint64_t gesture() const { return gesture_; }
  void count(const io::WindowEvent& press) { gesture_ += press.clicks == 2 ? 0 : 1; }

 private:
  bool press(const io::WindowEvent& event);
  void drag(const io::WindowEvent& event);
  bool grab_area(const io::WindowEvent& event);
  View::Point in_picture(const io::WindowEvent& event) const {
    return screen_.view().to_picture({event.x - picture_left_, event.y}, screen_.picture_area(state_.side));
  }
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
