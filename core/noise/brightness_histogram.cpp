#include "core/noise/brightness_histogram.h"

#include "core/frame/code_values.h"

namespace limpid {

BrightnessHistogram brightness_histogram(const Frame& frame) {
  const Plane& plane = frame.planes[brightness_plane(frame.format)];
  BrightnessHistogram shares{};
  for (int i = 0; i < kBrightnessPoints; ++i) {
    for (int j = 0; j < kBrightnessPoints; ++j) {
      float value = 0;
      load_code_values(plane, frame.format, brightness_point(plane.width, j),
                       brightness_point(plane.height, i), 1, &value);
      shares[brightness_level(value)] += 1.0F / (kBrightnessPoints * kBrightnessPoints);
    }
  }
  return shares;
}

}  // namespace limpid
