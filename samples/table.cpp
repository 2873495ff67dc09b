// SPDX-License-Identifier: MIT
#include <array>

#include "samples/drawing.h"
#include "samples/scene.h"

namespace limpid::samples {
namespace {

constexpr float kTableEdge = 0.60F;

Color wallpaper(Point at, float pixel) {
  // Leaf shapes in a half-drop repeat, between fine vertical stripes.
  const Point cell{at.x / 0.16F, at.y / 0.2F};
  const float column = std::floor(cell.x);
  const float drop = static_cast<int>(column) % 2 == 0 ? 0.5F : 0.0F;
  const Point local{(fraction(cell.x) - 0.5F) * 0.16F, (fraction(cell.y + drop) - 0.5F) * 0.2F};
  const float bulge = 0.034F * (1 - (local.y / 0.085F) * (local.y / 0.085F));
  const float leaf = std::max(std::abs(local.x) - bulge, std::abs(local.y) - 0.085F);
  const float vein = std::abs(fraction((local.y + 0.9F * std::abs(local.x)) / 0.02F) - 0.5F) * 0.02F - 0.002F;
  Color color = mix(Color{0.70F, 0.66F, 0.56F}, Color{0.66F, 0.62F, 0.52F},
                    coverage(std::abs(fraction(at.x / 0.016F) - 0.5F) * 0.016F - 0.003F, pixel));
  color = mix(color, {0.47F, 0.53F, 0.45F}, 0.85F * coverage(leaf, pixel));
  color = mix(color, {0.62F, 0.63F, 0.53F},
              coverage(leaf, pixel) * coverage(std::min(vein, std::abs(local.x) - 0.002F), pixel));
  const float paper = fractal_noise(at * 110, 110 * pixel, 3, 0.7F, 111);
  const float lamp = 1.12F - 0.55F * unit(length(at - Point{-0.55F, 0.05F}) / 1.5F);
  return color * (lamp * (1 + 0.022F * paper));
}

// A tartan cloth of twill weave, seen at a slant.
Color cloth(Point at, float pixel) {
  const float depth = 0.55F / (at.y - kTableEdge + 0.42F);
  const Point on_table{at.x * depth, depth * 1.9F};
  const float fold = fractal_noise(on_table * 1.6F, 1.6F * pixel, 2, 0.5F, 121);
  const Point thread{(on_table.x + 0.02F * fold) * 120, (on_table.y + 0.02F * fold) * 120};
  const float fine = 120 * pixel * depth * std::max(1.0F, 3.5F * depth);
  const auto stripe = [](float position) {
    const float phase = fraction(position / 26);
    return smooth_step(0.30F, 0.32F, phase) * smooth_step(0.62F, 0.60F, phase) +
           0.6F * smooth_step(0.80F, 0.81F, phase) * smooth_step(0.86F, 0.85F, phase);
  };
  const Color warm = mix(Color{0.70F, 0.62F, 0.50F}, Color{0.50F, 0.19F, 0.17F}, stripe(thread.x));
  const Color weft = mix(Color{0.70F, 0.62F, 0.50F}, Color{0.17F, 0.24F, 0.33F}, stripe(thread.y));
  const float twill = sine((thread.x + thread.y) / 2.0F);
  const float visible = unit(1 / fine - 0.6F);
  Color color = mix(warm, weft, 0.5F + 0.42F * twill * visible);
  const float yarn = fractal_noise({thread.x * 0.9F, thread.y * 0.5F}, fine, 2, 0.7F, 122);
  color = color * (1 + 0.16F * yarn + 0.16F * fold + 0.05F * visible * sine(thread.x));
  return color * (1.05F - 0.30F * unit(length(at - Point{-0.4F, 0.6F})));
}

void draw_shadow(Color& color, Point at, Point center, float half_width, float half_height) {
  const Point local{(at.x - center.x) / half_width, (at.y - center.y) / half_height};
  color = color * (1 - 0.55F * smooth_step(1.25F, 0.35F, length(local)));
}

void draw_book(Color& color, Point at, float pixel, Point corner, float width, float height, Color cover,
               std::uint32_t seed) {
  const Point local = at - corner;
  if (local.x < -0.02F || local.x > width + 0.02F) {
    return;
  }
  const float linen = fractal_noise({local.x * 190, local.y * 190}, 190 * pixel, 2, 0.8F, seed);
  const float round = 0.72F + 0.5F * sine(local.x / width * 0.5F) * (1 - 0.5F * local.x / width);
  Color back = cover * (round + 0.06F * linen);
  const float band = std::min(std::abs(local.y - 0.03F), std::abs(local.y - height + 0.035F)) - 0.004F;
  back = mix(back, {0.80F, 0.68F, 0.38F}, 0.9F * coverage(band, pixel));
  // The title runs down the spine.
  const Point title{(local.y - 0.055F) / 0.026F, 1 - (local.x - width * 0.25F) / (width * 0.5F)};
  const float last = std::floor((height - 0.12F) / 0.026F);
  const float ink = title.x > 0 && title.x < last ? lettering(title, pixel / 0.03F, seed) : 0;
  back = mix(back, {0.88F, 0.80F, 0.56F}, ink);
  color = mix(color, back, coverage(box(local, {width / 2, height / 2}, {width / 2, height / 2}), pixel));
}

void draw_books(Color& color, Point at, float pixel) {
  constexpr std::array<Color, 5> kCovers{{{0.42F, 0.17F, 0.15F},
                                          {0.20F, 0.31F, 0.38F},
                                          {0.30F, 0.36F, 0.20F},
                                          {0.55F, 0.42F, 0.25F},
                                          {0.26F, 0.20F, 0.32F}}};
  draw_shadow(color, at, {0.40F, 0.70F}, 0.34F, 0.05F);
  float x = 0.12F;
  for (std::size_t n = 0; n < kCovers.size(); ++n) {
    const int number = static_cast<int>(n);
    const float width = 0.075F + 0.05F * random_at(number, 1, 131);
    const float height = 0.36F + 0.12F * random_at(number, 2, 131);
    draw_book(color, at, pixel, {x, 0.70F - height}, width, height, kCovers[n],
              132 + static_cast<std::uint32_t>(n));
    x += width + 0.003F;
  }
}

void draw_mug(Color& color, Point at, float pixel, Point center) {
  draw_shadow(color, at, center + Point{0.05F, 0.125F}, 0.17F, 0.045F);
  const Point local = at - center;
  const float handle = std::abs(length({local.x - 0.095F, local.y * 0.85F}) - 0.048F) - 0.011F;
  const float handle_light =
      0.75F + 0.3F * smooth_step(0.01F, -0.01F, length(local - Point{0.095F, 0}) - 0.048F);
  color = mix(color, Color{0.80F, 0.80F, 0.76F} * handle_light, coverage(handle, pixel));
  const float curve = 0.022F * std::sqrt(std::max(1 - local.x * local.x / (0.1F * 0.1F), 0.0F));
  const float body = std::max(std::abs(local.x) - 0.1F, std::max(-0.12F - local.y, local.y - 0.11F - curve));
  const float across = std::clamp(local.x / 0.1F, -1.0F, 1.0F);
  const float ring = local.y - curve;
  const float blue = std::max(smooth_step(0.0045F, 0.0025F, std::abs(ring + 0.07F) - 0.006F),
                              smooth_step(0.0045F, 0.0025F, std::abs(ring - 0.05F) - 0.022F));
  Color glaze = mix(Color{0.84F, 0.83F, 0.79F}, Color{0.20F, 0.33F, 0.52F}, blue);
  const Point pattern{arc_sine(across) * 6, (ring - 0.028F) / 0.044F};
  glaze = mix(glaze, {0.84F, 0.83F, 0.79F},
              pattern.y > 0 && pattern.y < 1 ? lettering(pattern, pixel / 0.03F, 141) : 0);
  const float light = 0.58F + 0.5F * std::sqrt(unit(1 - (across + 0.4F) * (across + 0.4F) / 2.1F));
  const float shine =
      0.35F * smooth_step(0.10F, 0.0F, std::abs(across + 0.55F)) * smooth_step(0.1F, 0.0F, std::abs(local.y));
  color = mix(color, mix(glaze * light, {1, 1, 0.97F}, shine), coverage(body, pixel));
  const Point rim{local.x, (local.y + 0.12F) * 4.2F};
  color = mix(color, {0.88F, 0.87F, 0.83F}, coverage((length(rim) - 0.1F) * 0.4F, pixel));
  color = mix(color, mix(Color{0.22F, 0.12F, 0.07F}, Color{0.42F, 0.27F, 0.17F}, unit(0.5F + local.x * 5)),
              coverage((length(rim) - 0.088F) * 0.4F, pixel));
}

// A lit sphere with a texture that turns with it; `rolled` is in turns.
void draw_sphere(Color& color, Point at, float pixel, Point center, float radius, float rolled, bool ball) {
  draw_shadow(color, at, center + Point{0.35F * radius, 0.92F * radius}, 1.35F * radius, 0.33F * radius);
  const Point local = (at - center) * (1 / radius);
  const float distance = length(local);
  if (distance > 1.1F) {
    return;
  }
  const float toward = std::sqrt(std::max(1 - distance * distance, 0.0F));
  const float s = sine(rolled);
  const float c = sine(rolled + 0.25F);
  const Point turned{c * local.x + s * local.y, c * local.y - s * local.x};
  Color skin{};
  if (ball) {
    const float wave = turned.y + 0.38F * turned.x * turned.x - 0.2F;
    const float other = turned.y - 0.38F * turned.x * turned.x + 0.45F;
    const float felt = fractal_noise(turned * 19, 19 * pixel / radius, 3, 0.8F, 151);
    skin = Color{0.72F, 0.74F, 0.26F} * (1 + 0.12F * felt);
    const float seam = std::min(std::abs(wave), std::abs(other)) - 0.035F;
    skin = mix(skin, {0.88F, 0.88F, 0.82F}, coverage(seam, pixel / radius));
  } else {
    const Point along{turned.x * 9, turned.y * 2.2F};
    const float blush = fractal_noise(along, 9 * pixel / radius, 4, 0.6F, 152) + 0.5F * local.x;
    skin = mix(Color{0.66F, 0.17F, 0.13F}, Color{0.80F, 0.66F, 0.28F}, smooth_step(-0.2F, 0.9F, blush));
    const float speck = gradient_noise(turned * 17, 153);
    skin = mix(skin, {0.88F, 0.76F, 0.52F}, 0.6F * smooth_step(0.62F, 0.75F, speck));
  }
  const float lit = unit(-0.55F * local.x - 0.60F * local.y + 0.58F * toward);
  const float shine = ball ? 0.0F : smooth_step(0.24F, 0.05F, length(local - Point{-0.38F, -0.42F}));
  const Color shaded = mix(skin * (0.36F + 0.74F * lit), {1, 0.98F, 0.94F}, 0.7F * shine);
  color = mix(color, shaded, coverage((distance - 1) * radius, pixel));
}

void draw_apple(Color& color, Point at, float pixel, Point center, float radius, float rolled) {
  draw_sphere(color, at, pixel, center, radius, rolled, false);
  const Point top = center + Point{0.05F * radius, -0.82F * radius};
  const float stalk =
      std::min(segment(at, top, top + Point{0.012F, -0.022F}, 0.0035F),
               segment(at, top + Point{0.012F, -0.022F}, top + Point{0.028F, -0.036F}, 0.003F));
  color = mix(color, {0.25F, 0.17F, 0.10F}, coverage(stalk, pixel));
}

}  // namespace

Color table(Point at, float time, float pixel) {
  const float path = camera_path(time);
  const float zoom = 1 + 0.03F * path;
  const Point seen{at.x / zoom - 0.10F + 0.06F * path, (at.y - 0.55F) / zoom + 0.55F};
  const float fine = pixel / zoom;
  // The wall is farther off than the table and moves less.
  Color color = wallpaper(seen + Point{-0.025F * path, 0}, fine);
  const float rail = std::abs(seen.y - (kTableEdge - 0.05F)) - 0.03F;
  const float wood = fractal_noise({seen.x * 9, seen.y * 160}, 160 * fine, 4, 0.65F, 101);
  const float bevel = 0.8F + 0.35F * sine((seen.y - 0.52F) / 0.06F * 0.5F);
  color = mix(color, Color{0.38F, 0.25F, 0.16F} * (bevel + 0.16F * wood), coverage(rail, fine));
  color = mix(color, cloth(seen, fine), coverage(kTableEdge - seen.y, fine));
  draw_books(color, seen, fine);
  draw_mug(color, seen, fine, {-0.42F, 0.63F});
  draw_apple(color, seen, fine, {-0.11F, 0.69F}, 0.075F, 0.08F);
  draw_apple(color, seen, fine, {-0.22F, 0.74F}, 0.082F, 0.93F);
  constexpr float kBallRadius = 0.085F;
  const float way = 0.55F * fraction(time / 6 + 0.05F) * 6 - 0.75F;
  draw_sphere(color, seen, fine, {way, 0.86F}, kBallRadius, way / (2 * kPi * kBallRadius), true);
  return color;
}

}  // namespace limpid::samples
