// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "app/player/passage.h"
#include "io/screen/window.h"

namespace limpid::app {

enum class Side : std::uint8_t {
  kSplit,  ///< noisy left of a line, denoised right of it
  kNoisy,
  kDenoised,
  kDifference,
  kSideBySide,  ///< noisy in the left half of the window, denoised in the right one
  kPair,        ///< denoised with the settings A left of a line, with B right of it
};

/// Names of the sides, for the command line and in properties.
inline constexpr std::array<const char*, 6> kSideNames{"split",      "noisy", "denoised",
                                                       "difference", "side",  "pair"};

/// The state of a window beside its frame and zoom.
struct ViewState {
  Side side = Side::kSplit;
  double gain = 4;  ///< of the difference
  double volume = 1;
  bool muted = false;
  bool mirrored = false;  ///< left and right of both pictures are exchanged
  bool pixels = false;    ///< the values of the pixel below the pointer are shown
  Passage passage;
  bool loops = false;          ///< the passage, or the whole source, is repeated
  bool plays_passage = false;  ///< playback ends with the passage
  bool resumes = false;        ///< when the handle of the passage is released
  bool help = false;
  bool statistics = false;
  std::string hint;  ///< as long as it applies

  bool ended = false;           ///< the last frame is shown
  bool asks_to_quit = false;    ///< while a file is written
  bool quits = false;           ///< the window closes
  bool cancels_output = false;  ///< the file that is written is not finished
  bool window_is_lost = false;  ///< the window no longer exists
};

/// Which part of a picture is shown where in a window. Positions in the window are in its pixels.
class View {
 public:
  View(io::Size picture, double pixel_aspect) : picture_(picture), pixel_aspect_(pixel_aspect) {}

  static constexpr int kGreatestZoom = 8;

  io::Size picture() const { return picture_; }
  double pixel_aspect() const { return pixel_aspect_; }

  struct Placement {
    io::Rectangle source;  ///< of the picture
    io::Rectangle target;  ///< of the window
    bool smooth = false;
  };
  Placement place(io::Size window) const;

  /// The whole picture, as large as fits, at 0; else so many window pixels, both ways, to a pixel of the
  /// picture, whose aspect is then left alone: what is looked at is samples.
  int zoom() const { return zoom_; }
  /// Changes the zoom so that what is at (x, y) stays there.
  void set_zoom(int zoom, double x, double y, io::Size window);
  /// The next zoom of 0, 1, 2, 4, 8 that shows the picture larger or smaller in this window.
  int next_zoom(bool greater, io::Size window) const;
  /// Exchanges left and right. place() then has places in the mirrored picture.
  void mirror();
  /// Moves the picture by so many window pixels.
  void pan(double dx, double dy, io::Size window);

  /// Column of the picture at a column of the window, cut to 0 to its width.
  int picture_column(double x, io::Size window) const;
  struct Point {
    double x = 0;
    double y = 0;
  };
  /// The position in the picture at a position of the window, and the reverse.
  Point to_picture(Point at, io::Size window) const;
  Point to_window(Point at, io::Size window) const;
  /// The pixels of the picture between two places of the window, as far as there are.
  io::Rectangle picture_part(double x0, double y0, double x1, double y1, io::Size window) const;

 private:
  void keep_inside(io::Size window);
  double mirrored(double x) const { return mirrored_ ? picture_.width - x : x; }

  io::Size picture_;
  double pixel_aspect_;
  int zoom_ = 0;
  bool mirrored_ = false;
  // The position in the picture that is in the middle of the window when zoomed.
  double center_x_ = 0;
  double center_y_ = 0;
};

/// The line between noisy and denoised: it follows the pointer, unless it is locked, and can be dragged.
class SplitLine {
 public:
  /// `share`: of the window's width.
  explicit SplitLine(double share) : share_(share) {}

  double share() const { return share_; }
  /// The line's column in a window of this width, always so far inside that both sides are visible.
  int column(int width) const;

  /// The pointer is at `x`. Its first position, and the first one after the window has changed, move nothing.
  /// Returns true if the line has moved.
  bool point(double x, int width);
  /// The pointer has left: the line goes back to where it was before the pointer neared the border.
  void leave();
  /// The window has another size, so the position of the pointer is unknown.
  void forget_pointer() { pointer_.reset(); }
  /// A button or a finger was pressed at `x` and has moved to `to`. Returns true if it drags the line, and
  /// not the picture.
  bool drag(double x, double to, int width, bool touch, bool picture_moves);
  void release() { holds_.reset(); }

  bool locked() const { return locked_; }
  void set_locked(bool locked) { locked_ = locked; }
  /// Moves the line to the middle and locks it.
  void center();

 private:
  void move(double x, int width);

  double share_;
  double inner_ = 0.5;  // where it was last well within the window
  bool locked_ = false;
  std::optional<double> pointer_;
  std::optional<bool> holds_;  // while something is dragged: whether it is the line
};

}  // namespace limpid::app
