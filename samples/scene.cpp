// SPDX-License-Identifier: MIT
#include "samples/scene.h"

#include "samples/drawing.h"

namespace limpid::samples {

Color scene_color(int scene, Point point, float time, float pixel) {
  Color color = scene == 0 ? village(point, time, pixel) : table(point, time, pixel);
  // The lens darkens the corners slightly.
  const Point from_center = point - Point{0, 0.5F};
  color = color * (1 - 0.10F * unit(dot(from_center, from_center)));
  // Avoids deep black and clipped white, so that noise is hardly ever clipped.
  const auto expose = [](float value) { return 0.06F + 0.86F * unit(value); };
  return {expose(color.red), expose(color.green), expose(color.blue)};
}

}  // namespace limpid::samples
