// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/media/writer.h"

namespace limpid::io {

/// A pixel of 8 bits a channel: 0xAARRGGBB.
using Pixel = std::uint32_t;

constexpr Pixel make_pixel(int red, int green, int blue, int alpha = 255) {
  return static_cast<Pixel>(alpha) << 24 | static_cast<Pixel>(red) << 16 | static_cast<Pixel>(green) << 8 |
         static_cast<Pixel>(blue);
}
constexpr int red(Pixel pixel) { return static_cast<int>(pixel >> 16 & 0xFF); }
constexpr int green(Pixel pixel) { return static_cast<int>(pixel >> 8 & 0xFF); }
constexpr int blue(Pixel pixel) { return static_cast<int>(pixel & 0xFF); }

/// A picture as screens show it: sRGB, rows from top to bottom without gaps.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<Pixel> pixels;

  /// Changes the size; the pixels are then unspecified.
  void resize(int new_width, int new_height) {
    width = new_width;
    height = new_height;
    pixels.resize(static_cast<std::size_t>(width) * height);
  }
  Pixel* row(int y) { return pixels.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const Pixel* row(int y) const { return pixels.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

/// Writes a picture, without its alpha, as an 8-bit RGB PNG file: to a temporary name, then renamed. Throws
/// Error with a sentence that names the file.
void write_png(const std::string& path, const RgbImage& image, Overwrite overwrite = Overwrite::kNever);

// Constants and functions of the conversions, on the CPU (display.cpp) and in shaders (picture_painter.cpp).

/// Diffuse white of HDR video (ITU-R BT.2408) in cd/m2.
inline constexpr double kReferenceWhite = 203;
/// The curve of the display (ITU-R BT.1886 for a black of zero).
inline constexpr double kDisplayGamma = 2.4;

/// Rolls highlights off: x up to the knee, then scale (x + a) / (x + b), which leaves the knee with slope 1
/// and brings `peak` to 1.
struct ToneCurve {
  static constexpr double kKnee = 0.5;

  explicit ToneCurve(double peak_light) : peak(std::max(peak_light, 1.0)) {
    // From f(knee) = knee, f'(knee) = 1, f(peak) = 1.
    b = (kKnee * kKnee - 2 * kKnee * peak + peak) / std::max(peak - 1, 1e-6);
    a = -kKnee * kKnee * (peak - 1) / (kKnee * kKnee - 2 * kKnee + peak);
    scale = (kKnee * (kKnee + b)) / (kKnee + a);
  }
  double operator()(double x) const {
    return std::min(x <= kKnee || peak <= 1 ? x : scale * (x + a) / (x + b), 1.0);
  }

  double peak;  ///< the brightest light; 1 is the reference white
  double a = 0;
  double b = 0;
  double scale = 1;
};

/// The curve for a source.
inline ToneCurve tone_curve(const DisplayProperties& properties) {
  return ToneCurve(properties.transfer == Transfer::kSdr ? 1.0 : properties.peak / kReferenceWhite);
}

/// Exponent of luminance in the gain of HLG. The system gamma of 1.2 belongs to a peak of 1000 cd/m2 (ITU-R
/// BT.2100).
inline double hlg_exponent(double peak) { return 0.2 + 0.42 * std::log10(peak / 1000); }

/// From code values of a plane to their meaning: (sample - offset) * scale.
struct Normalization {
  float offset = 0;
  float scale = 1;
};

inline Normalization luma_normalization(const FrameFormat& format, ColorRange range) {
  if (format.is_float()) {
    return {};
  }
  const auto unit = static_cast<float>(1 << (format.bit_depth - 8));
  if (range == ColorRange::kLimited) {
    return {16 * unit, 1 / (219 * unit)};
  }
  return {0, 1 / static_cast<float>((1 << format.bit_depth) - 1)};
}

inline Normalization chroma_normalization(const FrameFormat& format, ColorRange range) {
  if (format.is_float()) {
    return {};
  }
  const auto middle = static_cast<float>(1 << (format.bit_depth - 1));
  const auto unit = static_cast<float>(1 << (format.bit_depth - 8));
  return {middle, range == ColorRange::kLimited ? 1 / (224 * unit)
                                                : 1 / static_cast<float>((1 << format.bit_depth) - 1)};
}

/// Red = Y + red_v V, green = Y + green_u U + green_v V, blue = Y + blue_u U.
struct YuvToRgb {
  float red_v = 0;
  float green_u = 0;
  float green_v = 0;
  float blue_u = 0;
};

inline YuvToRgb yuv_to_rgb(ColorMatrix matrix) {
  const auto [kr, kb] = matrix == ColorMatrix::kBt601    ? std::pair{0.299, 0.114}
                        : matrix == ColorMatrix::kBt2020 ? std::pair{0.2627, 0.0593}
                                                         : std::pair{0.2126, 0.0722};
  const double kg = 1 - kr - kb;
  return {.red_v = static_cast<float>(2 * (1 - kr)),
          .green_u = static_cast<float>(-2 * (1 - kb) * kb / kg),
          .green_v = static_cast<float>(-2 * (1 - kr) * kr / kg),
          .blue_u = static_cast<float>(2 * (1 - kb))};
}

/// ITU-R BT.2020 primaries in those of BT.709, by rows, and the luminance of BT.2020.
inline constexpr float kToBt709[3][3]{{1.660491F, -0.587641F, -0.072850F},
                                      {-0.124550F, 1.132900F, -0.008349F},
                                      {-0.018151F, -0.100579F, 1.118730F}};
inline constexpr float kLuminance2020[3]{0.2627F, 0.6780F, 0.0593F};

/// The conversion for the screen: "BT.709 limited", "BT.2020 limited, PQ tone-mapped".
std::string to_string(const DisplayProperties& properties, ColorModel color_model);

/// The frame as an upright picture for a screen: matrix, range and depth by IEEE floats rounded to nearest,
/// chroma interpolated linearly from where its samples lie, rotation and mirroring. PQ and HLG are
/// tone-mapped: light is brought to BT.709's primaries, 203 cd/m2 (ITU-R BT.2408) becomes the display's
/// white, and a rational curve rolls highlights off. Wide-gamut SDR is brought to BT.709's primaries and
/// clipped. swscale is not used: it rounds chroma positions and has no tone mapping. Alpha is ignored. For
/// pictures in files: the window converts by its shaders. Throws Error if no thread can be started.
RgbImage screen_picture(const Frame& frame, const DisplayProperties& properties);

}  // namespace limpid::io
