// SPDX-License-Identifier: MIT
#include <array>

#include "samples/drawing.h"
#include "samples/scene.h"

namespace limpid::samples {
namespace {

constexpr float kHorizon = 0.5F;
constexpr Color kHaze{0.74F, 0.79F, 0.82F};

Color sky(Point at, float pixel) {
  const float height = unit(at.y / kHorizon);
  Color color = mix(Color{0.36F, 0.53F, 0.75F}, Color{0.78F, 0.84F, 0.87F}, height * (1.6F - 0.6F * height));
  // Clouds get flatter toward the horizon.
  const Point cloud{at.x * 2.2F, at.y * (4 + 5 * height)};
  const float density = fractal_noise(cloud, 3 * pixel, 5, 0.5F, 11) + 0.15F;
  const float shade = fractal_noise(cloud + Point{0.05F, 0.16F}, 3 * pixel, 4, 0.5F, 11) + 0.15F;
  const float cover = smooth_step(0.0F, 0.75F, density);
  const Color cloud_color =
      mix(Color{0.98F, 0.97F, 0.96F}, Color{0.74F, 0.78F, 0.83F}, smooth_step(0.1F, 1.0F, shade));
  return mix(color, cloud_color, 0.9F * cover);
}

void draw_hills(Color& color, Point at, float pixel) {
  const float far_ridge = 0.40F + 0.07F * fractal_noise({at.x * 1.7F, 3}, 1.7F * pixel, 5, 0.45F, 21);
  const float far_texture = fractal_noise(at * 16, 16 * pixel, 3, 0.6F, 22);
  color = mix(color, mix(Color{0.42F, 0.52F, 0.60F}, kHaze, 0.25F) * (1 + 0.04F * far_texture),
              coverage(far_ridge - at.y, pixel));
  const Point nearer = at + Point{4.7F, 0};
  const float ridge = 0.455F + 0.05F * fractal_noise({nearer.x * 2.3F, 7}, 2.3F * pixel, 5, 0.45F, 23);
  const float wood = fractal_noise({nearer.x * 40, nearer.y * 60}, 60 * pixel, 3, 0.65F, 24);
  color = mix(color, Color{0.36F, 0.46F, 0.42F} * (1 + 0.16F * wood), coverage(ridge - at.y, pixel));
}

void draw_balloon(Color& color, Point at, float pixel, Point center) {
  constexpr float kRadius = 0.115F;
  const Point local = (at - center) * (1 / kRadius);
  const float fine = pixel / kRadius;
  if (std::abs(local.x) > 1.1F || local.y < -1.1F || local.y > 2.2F) {
    return;
  }
  // The envelope: a sphere above, narrowing to the mouth below.
  const float half = local.y < 0 ? std::sqrt(std::max(1 - local.y * local.y, 0.0F))
                                 : 1 - 0.62F * smooth_step(-0.25F, 1.4F, local.y) * local.y;
  const float edge = std::max(std::abs(local.x) - half, std::max(-1 - local.y, local.y - 1.25F));
  const float across = half > 0 ? std::clamp(local.x / half, -1.0F, 1.0F) : 0;
  const float meridian = arc_sine(across) * 5 + 0.3F;
  const int gore = static_cast<int>(std::floor(meridian));
  constexpr std::array<Color, 3> kStripes{
      {{0.80F, 0.24F, 0.18F}, {0.93F, 0.78F, 0.36F}, {0.22F, 0.36F, 0.60F}}};
  const auto stripe = [&](int number) { return kStripes[static_cast<std::size_t>((number % 3 + 3) % 3)]; };
  const float slant = 10 / kPi / std::sqrt(std::max(1 - across * across, 0.01F));
  const float beyond =
      coverage(0.5F - std::abs(fraction(meridian) - 0.5F), slant * fine / std::max(half, 0.1F));
  Color cloth = mix(stripe(gore), stripe(fraction(meridian) < 0.5F ? gore - 1 : gore + 1), beyond);
  const float band = coverage(std::abs(local.y - 0.15F) - 0.13F, fine);
  cloth = mix(cloth, {0.92F, 0.90F, 0.84F}, band);
  const float seam = unit(1 - std::abs(fraction(meridian) - 0.5F) * 2 / 0.15F);
  const float light = 0.62F + 0.4F * unit(0.75F - 0.55F * (across + 0.35F) - 0.3F * local.y) - 0.06F * seam;
  color = mix(color, cloth * light, coverage(edge * 0.8F, fine));
  float lines = segment(local, {-0.2F, 1.2F}, {-0.14F, 1.7F}, 0.012F);
  lines = std::min(lines, segment(local, {0.2F, 1.2F}, {0.14F, 1.7F}, 0.012F));
  lines = std::min(lines, segment(local, {0, 1.2F}, {0, 1.7F}, 0.008F));
  color = mix(color, {0.25F, 0.24F, 0.24F}, 0.8F * coverage(lines, fine));
  const float basket = box(local, {0, 1.8F}, {0.17F, 0.12F});
  const float wicker = 0.5F + 0.5F * sine(local.x * 14) * sine(local.y * 16);
  color = mix(color, Color{0.46F, 0.33F, 0.20F} * (0.8F + 0.3F * wicker), coverage(basket, fine));
}

void draw_trees(Color& color, Point at, float pixel) {
  const float outline = fractal_noise({at.x * 3.1F, 1}, 3.1F * pixel, 3, 0.6F, 31);
  const float twigs = fractal_noise(at * 30, 30 * pixel, 4, 0.6F, 32);
  const float crown = 0.445F - 0.075F * outline - 0.014F * twigs;
  const float ground = 0.545F;
  const float cover = coverage(std::max(crown - at.y, at.y - ground), 2 * pixel);
  if (cover <= 0) {
    return;
  }
  const float clumps = fractal_noise({at.x * 24, at.y * 30}, 30 * pixel, 5, 0.7F, 33);
  const float top_light = unit((ground - at.y) / 0.12F);
  const Color leaf = mix(Color{0.13F, 0.21F, 0.12F}, Color{0.42F, 0.50F, 0.24F},
                         unit(0.3F + 0.3F * clumps + 0.25F * top_light));
  color = mix(color, mix(leaf, kHaze, 0.10F), cover);
}

// The ground plane: `depth` grows from 1 at the picture's bottom toward the horizon.
Color meadow(Point at, float pixel, float pan) {
  const float depth = 0.5F / std::max(at.y - kHorizon, 0.004F);
  // Distance of two pixels on the ground; it grows faster away from the camera than across.
  const float across = pixel * depth;
  const float fine = across * std::max(1.0F, 1.2F * depth);
  const Point ground{(at.x + pan / depth) * depth, depth * 1.2F};
  const float patches = fractal_noise(ground * 0.9F, 0.9F * fine, 4, 0.55F, 41);
  // Blades: noise drawn out upwards, with its grain getting finer in the distance.
  const Point blades{ground.x * 46, ground.y * 11};
  const float grass = fractal_noise(blades, across * std::max(46.0F, 13 * depth), 4, 0.72F, 42) +
                      0.5F * fractal_noise({ground.x * 90 + ground.y * 20, ground.y * 24},
                                           across * std::max(90.0F, 29 * depth), 2, 0.7F, 43);
  Color color = mix(Color{0.36F, 0.42F, 0.17F}, Color{0.56F, 0.55F, 0.27F}, unit(0.5F + 0.6F * patches));
  color = color * (1 + 0.30F * grass);
  const float flower = gradient_noise(ground * 21, 44) * unit(0.3F / (21 * fine) - 0.3F);
  color = mix(color, {0.90F, 0.86F, 0.62F}, smooth_step(0.72F, 0.85F, flower));

  // A lane that winds from the lower left to the farm.
  const float middle = 1.25F * sine(depth * 0.085F + 0.02F) * depth * 0.42F - 0.2F * depth;
  const float offset = ground.x - middle;
  const float gravel = fractal_noise(ground * 34, 34 * fine, 3, 0.75F, 45);
  const float rut = smooth_step(0.12F, 0.05F, std::abs(std::abs(offset) - 0.26F));
  const Color lane = mix(Color{0.66F, 0.60F, 0.50F}, Color{0.52F, 0.46F, 0.37F}, rut) * (1 + 0.14F * gravel);
  const float ragged = 0.05F * fractal_noise(ground * 8, 8 * fine, 3, 0.6F, 46);
  color = mix(color, lane, coverage(std::abs(offset) - 0.45F + ragged, 2 * across));
  return mix(color, kHaze,
             unit(0.35F - 0.045F / (at.y - kHorizon + 0.08F)) + 0.25F * smooth_step(4, 60, depth));
}

void draw_window(Color& color, Point at, float pixel, Point center, float half_width, float half_height) {
  const Point local = at - center;
  color = mix(color, {0.88F, 0.86F, 0.80F},
              coverage(box(at, center, {half_width + 0.008F, half_height + 0.008F}), pixel));
  const float reflection = 0.35F + 0.4F * smooth_step(-0.03F, 0.05F, local.x * 0.6F - local.y);
  const float pane = std::max(box(at, center, {half_width, half_height}),
                              0.0025F - std::min(std::abs(local.x), std::abs(local.y + 0.01F)));
  color = mix(color, mix(Color{0.14F, 0.17F, 0.21F}, Color{0.55F, 0.64F, 0.72F}, reflection),
              coverage(pane, pixel));
}

void draw_house(Color& color, Point at, float pixel) {
  const Point wall_center{0.42F, 0.50F};
  const Point wall_half{0.27F, 0.115F};
  const float shadow = box(at, {wall_center.x + 0.03F, 0.622F}, {wall_half.x + 0.03F, 0.012F});
  color = color * (1 - 0.4F * smooth_step(0.02F, -0.01F, shadow));

  // Brickwork, every other course shifted by half a brick.
  const Point bricks{at.x / 0.030F, at.y / 0.0125F};
  const int course = static_cast<int>(std::floor(bricks.y));
  const float shifted = bricks.x + (course % 2 == 0 ? 0.5F : 0.0F);
  const float joint_y = std::abs(fraction(bricks.y) - 0.5F) * 0.0125F;
  const float joint_x = std::abs(fraction(shifted) - 0.5F) * 0.030F;
  const float brick = coverage(std::max(joint_x - 0.0138F, joint_y - 0.0050F), pixel);
  const float tint = random_at(static_cast<int>(std::floor(shifted)), course, 51);
  const float grain = fractal_noise(at * 150, 150 * pixel, 3, 0.7F, 52);
  const float stain = fractal_noise(at * 9, 9 * pixel, 3, 0.6F, 53);
  Color wall = mix(Color{0.72F, 0.68F, 0.62F},
                   mix(Color{0.56F, 0.29F, 0.21F}, Color{0.68F, 0.42F, 0.30F}, tint), brick);
  wall = wall * (1 + 0.07F * grain + 0.07F * stain - 0.25F * smooth_step(0.41F, 0.385F, at.y));
  color = mix(color, wall, coverage(box(at, wall_center, wall_half), pixel));
  for (int column = 0; column < 4; ++column) {
    const float x = 0.215F + 0.125F * static_cast<float>(column) + (column > 1 ? 0.035F : 0.0F);
    draw_window(color, at, pixel, {x, 0.475F}, 0.030F, 0.042F);
  }
  const float door = box(at, {0.42F, 0.555F}, {0.030F, 0.062F});
  const float planks = std::abs(fraction(at.x / 0.012F) - 0.5F) * 2;
  color = mix(color, Color{0.20F, 0.34F, 0.30F} * (0.85F + 0.2F * planks), coverage(door, pixel));

  // A tiled roof: a trapezium with slanting ends, rows of round tiles.
  const float up = (0.395F - at.y) / 0.13F;
  const float half_roof = 0.305F - 0.09F * up;
  const float roof = std::max(std::abs(at.x - wall_center.x) - half_roof, std::max(-up, up - 1) * 0.13F);
  const Point tiles{(at.x - wall_center.x) / (0.016F * (1 - 0.25F * up)), up * 11};
  const int row = static_cast<int>(std::floor(tiles.y));
  const float across = fraction(tiles.x + (row % 2 == 0 ? 0.5F : 0.0F));
  const float tile_tint =
      random_at(static_cast<int>(std::floor(tiles.x + (row % 2 == 0 ? 0.5F : 0.0F))), row, 54);
  const float lit = 0.82F + 0.25F * sine(across * 0.5F) - 0.30F * smooth_step(0.75F, 1.0F, fraction(tiles.y));
  const Color tile = mix(Color{0.47F, 0.27F, 0.22F}, Color{0.60F, 0.36F, 0.27F}, tile_tint) *
                     (lit + 0.08F * fractal_noise(at * 120, 120 * pixel, 2, 0.7F, 55));
  color = mix(color, tile, coverage(roof, pixel));
  const float chimney = box(at, {0.56F, 0.27F}, {0.022F, 0.055F});
  color = mix(color, wall * 0.9F, coverage(chimney, pixel));
  color = mix(color, {0.35F, 0.33F, 0.32F}, coverage(box(at, {0.56F, 0.212F}, {0.028F, 0.007F}), pixel));
}

void draw_wheel(Color& color, Point at, float pixel, Point center, float turned) {
  color = mix(color, {0.10F, 0.10F, 0.11F}, coverage(disc(at, center, 0.037F), pixel));
  const Point local = at - center;
  color = mix(color, {0.62F, 0.63F, 0.65F}, coverage(length(local) - 0.021F, pixel));
  const Point axis{sine(turned), sine(turned + 0.25F)};
  const float spoke =
      std::min(std::abs(dot(local, axis)), std::abs(local.x * axis.y - local.y * axis.x)) - 0.004F;
  color = mix(color, {0.28F, 0.28F, 0.30F}, coverage(std::max(spoke, length(local) - 0.019F), pixel));
}

void draw_van(Color& color, Point at, float pixel, float position) {
  const Point local{at.x - position, at.y - 0.62F};
  if (std::abs(local.x) > 0.36F || std::abs(local.y) > 0.2F) {
    return;
  }
  color = color * (1 - 0.5F * smooth_step(0.03F, -0.01F, box(local, {0, 0.128F}, {0.29F, 0.008F})));
  const float corner =
      length({std::max(local.x - 0.18F, 0.0F), std::max(-local.y - 0.02F, 0.0F) * 0.9F}) - 0.095F;
  const float body = std::max({box(local, {0, 0.01F}, {0.28F, 0.115F}), corner - 0.02F, local.y - 0.11F});
  const float dirt = fractal_noise(local * 30, 30 * pixel, 4, 0.6F, 61);
  const float light = 0.92F - 0.9F * std::max(local.y + 0.02F, 0.0F) + 0.03F * dirt;
  Color paint =
      mix(Color{0.86F, 0.85F, 0.81F}, Color{0.20F, 0.43F, 0.52F}, coverage(0.045F - local.y, pixel)) * light;
  const Point text{(local.x + 0.23F) / 0.030F, (local.y + 0.045F) / 0.045F};
  const float ink = text.x > 0 && text.x < 10 ? lettering(text, pixel / 0.040F, 62) : 0;
  paint = mix(paint, {0.62F, 0.16F, 0.14F}, ink);
  const Point small{(local.x + 0.23F) / 0.013F, (local.y - 0.015F) / 0.018F};
  const float small_ink = small.x > 0 && small.x < 21 ? lettering(small, pixel / 0.016F, 63) : 0;
  paint = mix(paint, {0.22F, 0.24F, 0.28F}, small_ink);
  paint = paint * (1 - 0.35F * coverage(std::abs(local.x - 0.12F) - 0.0018F, pixel));
  color = mix(color, paint, coverage(body, pixel));
  const float glass =
      std::max(box(local, {0.20F, -0.045F}, {0.06F, 0.037F}), local.x * 0.6F + local.y * -0.5F - 0.165F);
  const float glare = smooth_step(0.01F, 0.03F, std::abs(local.x - 0.20F + 0.5F * local.y));
  color =
      mix(color, mix(Color{0.60F, 0.68F, 0.72F}, Color{0.16F, 0.20F, 0.24F}, glare), coverage(glass, pixel));
  color = mix(color, {0.95F, 0.88F, 0.60F}, coverage(disc(local, {0.268F, 0.06F}, 0.012F), pixel));
  const float turned = position / (2 * kPi * 0.037F);
  draw_wheel(color, local, pixel, {-0.175F, 0.115F}, turned);
  draw_wheel(color, local, pixel, {0.175F, 0.115F}, turned);
}

void draw_fence(Color& color, Point at, float pixel) {
  if (at.y < 0.58F) {
    return;
  }
  // Chain-link wire, out of two families of diagonals.
  const float link = 0.034F;
  const float rising = std::abs(fraction((at.x + at.y) / link) - 0.5F) * link * 0.7071F;
  const float falling = std::abs(fraction((at.x - at.y) / link) - 0.5F) * link * 0.7071F;
  const float wire = std::max(std::min(rising, falling) - 0.0011F, std::max(0.675F - at.y, at.y - 0.96F));
  color = mix(color, {0.58F, 0.59F, 0.58F}, 0.85F * coverage(wire, pixel));
  const float rail = std::min(std::abs(at.y - 0.675F), std::abs(at.y - 0.96F)) - 0.0022F;
  color = mix(color, {0.45F, 0.46F, 0.46F}, coverage(rail, pixel));
  const float spacing = 0.46F;
  const float number = std::floor(at.x / spacing);
  const float across = (fraction(at.x / spacing) - 0.5F) * spacing;
  const float post =
      std::max(std::abs(across + 0.02F * (at.y - 0.8F)) - 0.017F, 0.625F + 0.3F * std::abs(across) - at.y);
  const float grain = fractal_noise({at.x * 210 + number, at.y * 14}, 210 * pixel, 3, 0.7F, 71);
  const float round = 1 - 0.45F * smooth_step(-0.012F, 0.018F, across);
  color = mix(color, Color{0.55F, 0.46F, 0.36F} * (round + 0.16F * grain), coverage(post, pixel));
}

void draw_foreground_grass(Color& color, Point at, float pixel) {
  const float depth = 0.5F * fractal_noise({at.x * 7, 2}, 7 * pixel, 3, 0.6F, 81);
  for (int layer = 0; layer < 2; ++layer) {
    const float lean = 0.35F * sine(at.x * 0.7F + 0.4F * static_cast<float>(layer)) * (1 - at.y);
    const Point blade{(at.x + lean) * (75 + 30 * static_cast<float>(layer)),
                      5 + 9 * static_cast<float>(layer)};
    const float tall = fractal_noise(blade, 90 * pixel, 2, 0.8F, 82);
    const float top =
        0.955F + 0.025F * static_cast<float>(layer) - 0.035F * depth - 0.055F * unit(tall + 0.1F);
    const float shade = fractal_noise({blade.x * 1.3F, at.y * 9}, 110 * pixel, 2, 0.7F, 83);
    color = mix(color, mix(Color{0.20F, 0.27F, 0.10F}, Color{0.50F, 0.55F, 0.24F}, unit(0.5F + 0.5F * shade)),
                coverage(top - at.y, 2 * pixel));
  }
}

}  // namespace

Color village(Point at, float time, float pixel) {
  const float pan = 0.17F * camera_path(time);  // heights of objects at the distance of the house
  const auto shifted = [&](float nearness) { return Point{at.x + pan * nearness, at.y}; };
  Color color = at.y < kHorizon + 0.05F ? sky(shifted(0.05F), pixel) : kHaze;
  draw_hills(color, shifted(0.12F), pixel);
  draw_balloon(color, shifted(0.2F), pixel, {-0.38F + 0.05F * time, 0.22F - 0.012F * time});
  draw_trees(color, shifted(0.45F), pixel);
  if (at.y > kHorizon + 0.005F) {
    const float edge = 0.532F + 0.003F * fractal_noise({shifted(0.5F).x * 60, 5}, 60 * pixel, 3, 0.7F, 47);
    color = mix(color, meadow(at, pixel, 2 * pan), coverage(edge - at.y, pixel));
  }
  draw_house(color, shifted(1.0F), pixel);
  // The van returns every twelve seconds.
  const float round_trip = fraction(time / 12 + 0.21F) * 12;
  draw_van(color, at, pixel, -1.35F + 0.42F * round_trip);
  draw_fence(color, shifted(1.5F), pixel);
  draw_foreground_grass(color, shifted(1.9F), pixel);
  return color;
}

}  // namespace limpid::samples
