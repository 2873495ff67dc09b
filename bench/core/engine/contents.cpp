// SPDX-License-Identifier: MIT
#include "bench/core/engine/contents.h"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <utility>

namespace limpid::benchmarks {
namespace {

struct Point {
  int x;
  int y;
  int width;
  int height;
  int plane;
};

int bar(const Point& at) {
  constexpr int kBars = 7;
  // The 75 % color bars of BT.601.
  constexpr std::array<std::array<int, kBars>, 3> kColors = {{{180, 162, 131, 112, 84, 65, 35},
                                                              {128, 44, 156, 72, 184, 100, 212},
                                                              {128, 142, 44, 58, 198, 212, 114}}};
  return kColors[at.plane][at.x * kBars / at.width];
}

// Vertical, horizontal and diagonal stripes of 1 to 8 samples.
int stripes(const Point& at) {
  constexpr int kSide = 120;
  const int field = at.x / kSide + at.y / kSide * 5;
  const int period = 2 * (1 + field % 8);
  const std::array<int, 3> along = {at.x, at.y, at.x + at.y};
  return along[field % 3] % period < period / 2 ? 60 : 190;
}

// Flat areas, discs, a ramp, a fine grid and shapes like lines of text.
int drawing(const Point& at) {
  const int u = at.x * 16 / at.width;
  const int v = at.y * 9 / at.height;
  const int cell_width = at.width / 16;
  const int x = at.x - u * cell_width;
  const int y = at.y - v * (at.height / 9);
  const int shade = (37 * u + 59 * v + 83 * at.plane) % 200 + 25;
  switch ((u + 3 * v) % 5) {
    case 0:
      return shade;
    case 1: {
      const int dx = x - cell_width / 2;
      const int dy = y - cell_width / 2;
      return dx * dx + dy * dy < cell_width * cell_width / 8 ? 235 - shade / 2 : shade;
    }
    case 2:
      return 16 + at.x * 219 / at.width;
    case 3:
      return x % 12 == 0 || y % 12 == 0 ? 220 : 40;
    default:
      return y % 14 < 9 && (x * 7 + y / 14 * 13) % 23 < 9 && (x + y) % 3 != 0 ? 20 : 230;
  }
}

using Drawing = std::function<int(const Point&)>;

}  // namespace

std::vector<Content> contents() {
  return {{"natural", false}, {"natural, noisy", true}, {"black", false},     {"one gray", false},
          {"bars", false},    {"stripes", false},       {"ramp", false},      {"dither", false},
          {"drawn", false},   {"drawn, noisy", true},   {"letterbox", false}, {"salt and pepper", false}};
}

std::vector<std::uint8_t> draw(const Content& content, int width, int height, int plane,
                               const std::vector<std::uint8_t>& natural, int side) {
  const auto mirrored = [&](int i) { return i / side % 2 == 0 ? i % side : side - 1 - i % side; };
  const Drawing picture = [&](const Point& at) -> int {
    return natural[mirrored(at.y) * side + mirrored(at.x)];
  };
  const int black = plane == 0 ? 16 : 128;
  std::mt19937 random(1);
  const std::vector<std::pair<std::string, Drawing>> drawings = {
      {"natural", picture},
      {"natural, noisy", picture},
      {"black", [&](const Point&) { return black; }},
      {"one gray", [](const Point&) { return 121; }},
      {"bars", bar},
      {"stripes", stripes},
      {"ramp", [](const Point& at) { return 16 + at.x * 219 / at.width; }},
      {"dither", [](const Point& at) { return 120 + (at.x + at.y) % 2; }},
      {"drawn", drawing},
      {"drawn, noisy", drawing},
      {"letterbox",
       [&](const Point& at) {
         const bool inside = at.y >= at.height / 8 && at.y < at.height - at.height / 8;
         return inside ? picture(at) : black;
       }},
      {"salt and pepper", [&](const Point& at) {
         const auto draw = random() % 10;
         return draw == 0 ? 0 : draw == 1 ? 255 : picture(at);
       }}};
  const auto found = std::find_if(drawings.begin(), drawings.end(),
                                  [&](const auto& drawing) { return drawing.first == content.name; });
  std::vector<std::uint8_t> samples;
  samples.reserve(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      samples.push_back(static_cast<std::uint8_t>(found->second({x, y, width, height, plane})));
    }
  }
  return samples;
}

}  // namespace limpid::benchmarks
