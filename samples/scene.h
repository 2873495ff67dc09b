#pragma once

namespace limpid::samples {

/// In units of the picture's height: x from the picture's middle to the right, y from its top downwards.
struct Point {
  float x;
  float y;
};

/// Gamma-coded BT.709 primaries, 0 to 1.
struct Color {
  float red;
  float green;
  float blue;
};

/// The color at `point`, `time` seconds into the clip, in scene 0 or 1. `pixel` is the distance of
/// two pixels: edges are smoothed over it, and texture finer than it is left out.
Color scene_color(int scene, Point point, float time, float pixel);

/// Scene 0, a village road under a pan to the right: sky and hills, a hot-air balloon, trees, meadow, a brick
/// house, and a van that drives between the house and a wire fence.
Color village(Point at, float time, float pixel);

/// Scene 1, a table under a slow pan and zoom: woven cloth, wallpaper, books with lettering, a mug, apples,
/// and a ball that rolls past in front of them.
Color table(Point at, float time, float pixel);

}  // namespace limpid::samples
