#pragma once

#include <cstdint>

#include "io/window.h"

namespace limpid::app {

enum class Side : std::uint8_t {
  kSplit,  ///< noisy left of a line, denoised right of it
  kNoisy,
  kDenoised,
  kDifference,
};

/// Which part of a picture is shown where in a window. Positions in the window are in its pixels.
class View {
 public:
  View(io::Size picture, double pixel_aspect) : picture_(picture), pixel_aspect_(pixel_aspect) {}

  static constexpr int kGreatestZoom = 8;

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
  /// The next greater or smaller zoom of 0, 1, 2, 4, 8.
  int next_zoom(bool greater) const;
  /// Moves the picture by so many window pixels.
  void pan(double dx, double dy);

  /// Column of the picture at a column of the window, cut to 0 to its width.
  int picture_column(double x, io::Size window) const;

 private:
  io::Size picture_;
  double pixel_aspect_;
  int zoom_ = 0;
  // Of the picture, in the middle of the window when zoomed.
  double center_x_ = 0;
  double center_y_ = 0;
};

}  // namespace limpid::app
