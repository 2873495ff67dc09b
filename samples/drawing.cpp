// SPDX-License-Identifier: MIT
#include "samples/drawing.h"

#include <array>

namespace limpid::samples {
namespace {

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  std::uint32_t h = x * 0x8da6b343U + y * 0xd8163841U + seed * 0xcb1ab31fU;
  h = (h ^ (h >> 16U)) * 0x7feb352dU;
  h = (h ^ (h >> 15U)) * 0x846ca68bU;
  return h ^ (h >> 16U);
}

float slope(int x, int y, float dx, float dy, std::uint32_t seed) {
  constexpr std::array<Point, 8> kGradients{{{1, 0},
                                             {-1, 0},
                                             {0, 1},
                                             {0, -1},
                                             {0.7071F, 0.7071F},
                                             {-0.7071F, 0.7071F},
                                             {0.7071F, -0.7071F},
                                             {-0.7071F, -0.7071F}}};
  const Point gradient =
      kGradients[hash(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), seed) >> 29U];
  return gradient.x * dx + gradient.y * dy;
}

float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }

}  // namespace

float sine(float turns) {
  float t = turns - std::floor(turns + 0.5F);  // -0.5 to 0.5 of a turn
  if (t > 0.25F) {
    t = 0.5F - t;
  } else if (t < -0.25F) {
    t = -0.5F - t;
  }
  const float angle = 2 * kPi * t;
  const float square = angle * angle;
  return angle * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
}

float arc_sine(float value) {
  // Abramowitz and Stegun, 4.4.45.
  const float size = std::min(std::abs(value), 1.0F);
  const float polynomial = 1.5707288F + size * (-0.2121144F + size * (0.0742610F - size * 0.0187293F));
  const float result = 1 - 2 / kPi * std::sqrt(1 - size) * polynomial;
  return value < 0 ? -result : result;
}

float random_at(int x, int y, std::uint32_t seed) {
  return static_cast<float>(hash(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), seed) >> 8U) *
         0x1p-24F;
}

float gradient_noise(Point at, std::uint32_t seed) {
  const float left = std::floor(at.x);
  const float top = std::floor(at.y);
  const int x = static_cast<int>(left);
  const int y = static_cast<int>(top);
  const float dx = at.x - left;
  const float dy = at.y - top;
  const float across = fade(dx);
  const float upper = mix(slope(x, y, dx, dy, seed), slope(x + 1, y, dx - 1, dy, seed), across);
  const float lower =
      mix(slope(x, y + 1, dx, dy - 1, seed), slope(x + 1, y + 1, dx - 1, dy - 1, seed), across);
  return 1.5F * mix(upper, lower, fade(dy));
}

float fractal_noise(Point at, float pixel, int octaves, float persistence, std::uint32_t seed) {
  float sum = 0;
  float strength = 1;
  for (int octave = 0; octave < octaves; ++octave) {
    const float visible = unit(0.5F / pixel - 0.5F);
    if (visible <= 0) {
      break;
    }
    sum += strength * visible * gradient_noise(at, seed + static_cast<std::uint32_t>(octave));
    strength *= persistence;
    at = at * 2.03F;
    pixel *= 2.03F;
  }
  return sum;
}

float box(Point at, Point center, Point half_size) {
  return std::max(std::abs(at.x - center.x) - half_size.x, std::abs(at.y - center.y) - half_size.y);
}

float segment(Point at, Point from, Point to, float half_width) {
  const Point along = to - from;
  const float share = unit(dot(at - from, along) / dot(along, along));
  return length(at - from - along * share) - half_width;
}

float lettering(Point at, float pixel, std::uint32_t seed) {
  if (at.y < -0.2F || at.y > 1.2F) {
    return 0;
  }
  const float cell = std::floor(at.x);
  const std::uint32_t letter = hash(static_cast<std::uint32_t>(static_cast<int>(cell)), 0, seed);
  if (letter % 6 == 0) {
    return 0;  // a gap between words
  }
  const Point local{at.x - cell, at.y};
  constexpr float kLeft = 0.2F;
  constexpr float kRight = 0.75F;
  constexpr float kStroke = 0.09F;
  const std::array<std::array<Point, 2>, 7> strokes{{{{{kLeft, 0.1F}, {kLeft, 0.9F}}},
                                                     {{{kLeft, 0.1F}, {kRight, 0.1F}}},
                                                     {{{kLeft, 0.5F}, {kRight, 0.5F}}},
                                                     {{{kLeft, 0.9F}, {kRight, 0.9F}}},
                                                     {{{kRight, 0.1F}, {kRight, 0.9F}}},
                                                     {{{kLeft, 0.5F}, {kRight, 0.9F}}},
                                                     {{{kLeft, 0.9F}, {kRight, 0.1F}}}}};
  float distance = 1;
  for (std::size_t stroke = 0; stroke < strokes.size(); ++stroke) {
    if (stroke == 0 || (letter >> (8 + stroke) & 1U) != 0) {
      distance = std::min(distance, segment(local, strokes[stroke][0], strokes[stroke][1], kStroke));
    }
  }
  return coverage(distance, pixel);
}

}  // namespace limpid::samples
