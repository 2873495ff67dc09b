// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "io/screen/window.h"

namespace limpid::app {

/// The box in which noise is measured, in pixels of the displayed picture. The pointer moves and resizes it.
class NoiseBox {
 public:
  static constexpr double kHandle = 8;  ///< side of a handle, in units of 1/96 inch

  /// `least`: smallest width and height after resizing.
  NoiseBox(const io::Rectangle& box, io::Size picture, int least)
      : box_(box), picture_(picture), least_(least) {}

  const io::Rectangle& box() const { return box_; }

  /// Takes the edge or corner within `reach` pixels of a point, or the inside of the box. False if the point
  /// is outside.
  bool grab(double x, double y, double reach);
  bool is_held() const { return held_.has_value(); }
  /// Moves what is held to a point. The box stays inside the picture.
  void drag(double x, double y);
  /// Lets go. True if the box has changed since grab().
  bool release();

 private:
  /// Held edges: -1 the left or upper one, 1 the right or lower one, 0 neither. Both 0: the box moves.
  struct Held {
    int horizontal = 0;
    int vertical = 0;
    double x = 0;  ///< of the pointer when the box was `from`
    double y = 0;
    io::Rectangle from;
  };

  io::Rectangle box_;
  io::Size picture_;
  int least_;
  std::optional<Held> held_;
};

/// The part of a frame in host memory that is most suitable for measuring noise: the flattest one whose
/// samples are not clipped. Each side is a quarter of the frame's, but at least `least` samples. It lies in
/// `within`, and is smaller if necessary, unless less than `least` samples fit there. Nothing if the frame is
/// smaller.
std::optional<Region> flattest_region(const Frame& frame, const Region& within, int least);

}  // namespace limpid::app
