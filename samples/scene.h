// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::samples {

/// A point in units of the picture's height: x from the picture's center to the right, y from its top
/// downwards.
struct Point {
  float x;
  float y;
};

/// A color in gamma-coded BT.709 primaries, 0 to 1.
struct Color {
  float red;
  float green;
  float blue;
};

/// The color at `point` in scene 0 or 1, `time` seconds after the beginning of the clip. `pixel` is the
/// distance between pixels: edges are smoothed over it, and finer texture is omitted.
Color scene_color(int scene, Point point, float time, float pixel);

/// Scene 0, a village road under a pan to the right: sky and hills, a hot-air balloon, trees, meadow, a brick
/// house, and a van that drives between the house and a wire fence.
Color village(Point at, float time, float pixel);

/// Scene 1, a table under a slow pan and zoom: woven cloth, wallpaper, books with lettering, a mug, apples,
/// and a ball that rolls past in front of them.
Color table(Point at, float time, float pixel);

}  // namespace limpid::samples
