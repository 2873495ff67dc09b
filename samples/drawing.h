// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "samples/scene.h"

// Drawing functions of the scenes. They use only additions, multiplications, divisions and square roots,
// which IEEE 754 defines exactly; std::sin and similar functions differ between C++ libraries.

namespace limpid::samples {

inline constexpr float kPi = 3.14159265F;

inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(Point a, float factor) { return {a.x * factor, a.y * factor}; }
inline float dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline float length(Point a) { return std::sqrt(dot(a, a)); }

inline Color operator+(Color a, Color b) { return {a.red + b.red, a.green + b.green, a.blue + b.blue}; }
inline Color operator*(Color a, float factor) { return {a.red * factor, a.green * factor, a.blue * factor}; }

inline float mix(float a, float b, float share) { return a + (b - a) * share; }
inline Color mix(Color a, Color b, float share) { return a + (b + a * -1.0F) * share; }
inline float unit(float value) { return std::clamp(value, 0.0F, 1.0F); }
inline float fraction(float value) { return value - std::floor(value); }

/// 0 below `from`, 1 above `to`, smooth between; `from` may be greater than `to`.
inline float smooth_step(float from, float to, float value) {
  const float share = unit((value - from) / (to - from));
  return share * share * (3 - 2 * share);
}

/// sin(2 pi turns), to 1e-4.
float sine(float turns);
/// (2 / pi) asin(value) for -1 to 1, to 1e-3: -1 to 1.
float arc_sine(float value);

/// Position on the camera's path, in seconds: steady at first, then swinging back before the camera leaves
/// the scene.
inline float camera_path(float time) { return 8 * sine(time / 50); }

/// A random number for a pair of integers, 0 to 1.
float random_at(int x, int y, std::uint32_t seed);

/// Gradient noise (Perlin, "Improving noise", 2002) with features of about one unit, about -1 to 1.
float gradient_noise(Point at, std::uint32_t seed);

/// `octaves` layers of gradient noise, each twice as fine and `persistence` times as strong as the one
/// before. Layers finer than `pixel`, the distance of two pixels in the units of `at`, fade out.
float fractal_noise(Point at, float pixel, int octaves, float persistence, std::uint32_t seed);

/// The share of a pixel that lies inside a shape: 1 if the signed distance to its edge is well below 0.
inline float coverage(float distance, float pixel) { return unit(0.5F - distance / (1.4F * pixel)); }

/// Signed distances to the edges of shapes, negative inside.
inline float disc(Point at, Point center, float radius) { return length(at - center) - radius; }
float box(Point at, Point center, Point half_size);
float segment(Point at, Point from, Point to, float half_width);

/// Ink of a line of invented letters, one for each unit of x, between y = 0 and y = 1; 0 to 1.
float lettering(Point at, float pixel, std::uint32_t seed);

}  // namespace limpid::samples
