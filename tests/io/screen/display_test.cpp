// SPDX-License-Identifier: MIT
// The conversion of frames to pictures for a screen, against plain arithmetic in double precision.
#include "io/screen/display.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include "io/media/reader.h"
#include "tests/io/media/media.h"
#include "tests/oracle/samples.h"
#include "tests/rotated_track.h"

namespace limpid::io {
namespace {

using Rgb = std::array<double, 3>;

double sample(const Frame& frame, int plane, int x, int y) {
  x = std::clamp(x, 0, frame.planes[plane].width - 1);
  y = std::clamp(y, 0, frame.planes[plane].height - 1);
  return oracle::sample_at(frame, plane, x, y);
}

using oracle::set_sample;

/// Chroma at the position of a luma sample, by bilinear interpolation.
double chroma_at(const Frame& frame, const DisplayProperties& properties, int plane, int x, int y) {
  const double cx = (x - properties.chroma_x) / std::pow(2, frame.format.chroma_shift_x);
  const double cy = (y - properties.chroma_y) / std::pow(2, frame.format.chroma_shift_y);
  const int x0 = static_cast<int>(std::floor(cx));
  const int y0 = static_cast<int>(std::floor(cy));
  const double fx = cx - x0;
  const double fy = cy - y0;
  return (1 - fy) * ((1 - fx) * sample(frame, plane, x0, y0) + fx * sample(frame, plane, x0 + 1, y0)) +
         fy * ((1 - fx) * sample(frame, plane, x0, y0 + 1) + fx * sample(frame, plane, x0 + 1, y0 + 1));
}

/// ITU-R BT.601/709/2020 and the definition of code values there (quantization by 219 and 224 steps of
/// 2^(n-8)).
Rgb coded_rgb(const Frame& frame, const DisplayProperties& properties, int x, int y) {
  const FrameFormat& format = frame.format;
  const bool is_float = format.sample_type == SampleType::kFloat32;
  const double steps = std::pow(2, format.bit_depth - 8);
  const double top = std::pow(2, format.bit_depth) - 1;
  const bool limited = properties.range == ColorRange::kLimited;
  const auto luma = [&](double code) {
    return is_float ? code : limited ? (code / steps - 16) / 219 : code / top;
  };
  const auto chroma = [&](double code) {
    return limited ? (code / steps - 128) / 224 : (code - std::pow(2, format.bit_depth - 1)) / top;
  };
  const double first = luma(sample(frame, 0, x, y));
  if (format.color_model == ColorModel::kGray) {
    return {first, first, first};
  }
  if (format.color_model == ColorModel::kRgb) {
    return {first, luma(sample(frame, 1, x, y)), luma(sample(frame, 2, x, y))};
  }
  const double u = chroma(chroma_at(frame, properties, 1, x, y));
  const double v = chroma(chroma_at(frame, properties, 2, x, y));
  const double kr = properties.matrix == ColorMatrix::kBt601   ? 0.299
                    : properties.matrix == ColorMatrix::kBt709 ? 0.2126
                                                               : 0.2627;
  const double kb = properties.matrix == ColorMatrix::kBt601   ? 0.114
                    : properties.matrix == ColorMatrix::kBt709 ? 0.0722
                                                               : 0.0593;
  const double red = first + 2 * (1 - kr) * v;
  const double blue = first + 2 * (1 - kb) * u;
  return {red, (first - kr * red - kb * blue) / (1 - kr - kb), blue};
}

int byte(double value) { return static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * 255)); }

Frame random_frame(const FrameFormat& format) {
  std::mt19937 random(7);
  Frame frame = allocate_frame(format);
  const double top = format.sample_type == SampleType::kFloat32 ? 1 : std::pow(2, format.bit_depth) - 1;
  std::uniform_real_distribution<double> uniform(0, top);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        set_sample(
            frame, p, x, y,
            format.sample_type == SampleType::kFloat32 ? uniform(random) : std::round(uniform(random)));
      }
    }
  }
  return frame;
}

FrameFormat make_format(ColorModel model, int depth, int shift_x = 0, int shift_y = 0) {
  FrameFormat format;
  format.width = 53;  // odd, to have a last chroma sample for half a pair
  format.height = 37;
  format.color_model = model;
  format.chroma_shift_x = shift_x;
  format.chroma_shift_y = shift_y;
  format.bit_depth = depth;
  format.sample_type = depth == 8    ? SampleType::kUint8
                       : depth == 32 ? SampleType::kFloat32
                                     : SampleType::kUint16;
  return format;
}

/// Greatest difference of any channel of any pixel from `expected(x, y)`, whose coordinates are the stored
/// picture's.
template <typename Expected>
int greatest_error(const RgbImage& image, const Orientation& orientation, const Expected& expected) {
  int greatest = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      int sx = orientation.mirrored_x ? image.width - 1 - x : x;
      int sy = orientation.mirrored_y ? image.height - 1 - y : y;
      if (orientation.transposed) {
        std::swap(sx, sy);
      }
      const Rgb rgb = expected(sx, sy);
      const Pixel pixel = image.row(y)[x];
      greatest = std::max({greatest, std::abs(red(pixel) - byte(rgb[0])),
                           std::abs(green(pixel) - byte(rgb[1])), std::abs(blue(pixel) - byte(rgb[2]))});
    }
  }
  return greatest;
}

int conversion_error(const FrameFormat& format, const DisplayProperties& properties) {
  const Frame frame = random_frame(format);
  const RgbImage image = screen_picture(frame, properties);
  return greatest_error(image, properties.orientation,
                        [&](int x, int y) { return coded_rgb(frame, properties, x, y); });
}

TEST(DisplayTest, EveryMatrixRangeAndDepthIsExactToARounding) {
  for (const ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020}) {
    for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      for (const int depth : {8, 9, 10, 12, 14, 16}) {
        DisplayProperties properties;
        properties.matrix = matrix;
        properties.range = range;
        EXPECT_LE(conversion_error(make_format(ColorModel::kYuv, depth), properties), 1)
            << static_cast<int>(matrix) << ", " << static_cast<int>(range) << ", " << depth;
      }
    }
  }
}

TEST(DisplayTest, ChromaIsInterpolatedFromWhereItLies) {
  for (const auto& [shift_x, shift_y] :
       {std::pair{1, 1}, std::pair{1, 0}, std::pair{0, 1}, std::pair{2, 0}}) {
    for (const double x : {0.0, 0.5, 1.0, 1.5}) {
      for (const double y : {0.0, 0.5, 1.0}) {
        if ((x > 0 && x > (1 << shift_x) - 1) || (y > 0 && y > (1 << shift_y) - 1)) {
          continue;
        }
        DisplayProperties properties;
        properties.chroma_x = x;
        properties.chroma_y = y;
        EXPECT_LE(conversion_error(make_format(ColorModel::kYuv, 8, shift_x, shift_y), properties), 1)
            << shift_x << ", " << shift_y << ": " << x << ", " << y;
      }
    }
  }
}

TEST(DisplayTest, GrayRgbAndFloatsAreShown) {
  DisplayProperties properties;
  properties.range = ColorRange::kFull;
  for (const ColorModel model : {ColorModel::kGray, ColorModel::kRgb}) {
    for (const int depth : {8, 12, 32}) {
      EXPECT_LE(conversion_error(make_format(model, depth), properties), 1);
    }
  }
  properties.range = ColorRange::kLimited;
  EXPECT_LE(conversion_error(make_format(ColorModel::kGray, 10), properties), 1);
}

TEST(DisplayTest, AllEightOrientationsAreTurnedUpright) {
  for (int bits = 0; bits < 8; ++bits) {
    DisplayProperties properties;
    properties.chroma_y = 0.5;
    properties.orientation = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    const FrameFormat format = make_format(ColorModel::kYuv, 8, 1, 1);
    EXPECT_LE(conversion_error(format, properties), 1) << bits;
  }
}

/// SMPTE ST 2084 and ITU-R BT.2100, 1 being the reference white of 203 cd/m2.
double pq_to_light(double code) {
  const double p = std::pow(std::max(code, 0.0), 1 / 78.84375);
  return 10000 / 203.0 *
         std::pow(std::max(p - 0.8359375, 0.0) / (18.8515625 - 18.6875 * p), 1 / 0.1593017578125);
}
Rgb hlg_to_light(const Rgb& coded, double peak) {
  Rgb scene;
  for (int c = 0; c < 3; ++c) {
    scene[c] = coded[c] <= 0.5 ? coded[c] * coded[c] / 3
                               : (std::exp((coded[c] - 0.55991073) / 0.17883277) + 0.28466892) / 12;
  }
  const double y = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2];
  const double gain = y > 0 ? peak / 203 * std::pow(y, 0.2 + 0.42 * std::log10(peak / 1000)) : 0;
  return {scene[0] * gain, scene[1] * gain, scene[2] * gain};
}
Rgb to_bt709(const Rgb& light) {
  const auto& [r, g, b] = light;
  return {std::max(0.0, 1.660491 * r - 0.587641 * g - 0.072850 * b),
          std::max(0.0, -0.124550 * r + 1.132900 * g - 0.008349 * b),
          std::max(0.0, -0.018151 * r - 0.100579 * g + 1.118730 * b)};
}

/// The rational curve through (1/2, 1/2) with slope 1 there, and (peak, 1).
double tone_mapped(double x, double peak) {
  if (x <= 0.5) {
    return x;
  }
  // s (x + a) / (x + b), whose value and slope at 1/2 are 1/2 and 1, and which is 1 at the peak.
  const double b = 0.25 / (peak - 1);
  const double a = -0.25 / (1 + b);
  const double s = 0.5 * (0.5 + b) / (0.5 + a);
  return std::min(1.0, s * (x + a) / (x + b));
}

Rgb displayed(Rgb light, double peak) {
  const double brightest = std::max({light[0], light[1], light[2]});
  const double gain = brightest > 0 && peak > 1
                          ? tone_mapped(std::min(brightest, peak), peak) / std::min(brightest, peak)
                          : 1;
  for (double& channel : light) {
    channel = std::pow(std::clamp(channel * gain, 0.0, 1.0), 1 / 2.4);
  }
  return light;
}

TEST(DisplayTest, HdrAndWideGamutComeOutAsTheStandardsSay) {
  const FrameFormat format = make_format(ColorModel::kYuv, 10);
  const Frame frame = random_frame(format);
  for (const Transfer transfer : {Transfer::kSdr, Transfer::kPq, Transfer::kHlg}) {
    for (const double peak : {600.0, 1000.0, 4000.0}) {
      DisplayProperties properties;
      properties.matrix = ColorMatrix::kBt2020;
      properties.transfer = transfer;
      properties.wide_gamut = true;
      properties.peak = peak;
      const RgbImage image = screen_picture(frame, properties);
      const int error = greatest_error(image, {}, [&](int x, int y) {
        Rgb rgb = coded_rgb(frame, properties, x, y);
        for (double& channel : rgb) {
          channel = std::clamp(channel, 0.0, 1.0);
        }
        if (transfer == Transfer::kHlg) {
          return displayed(to_bt709(hlg_to_light(rgb, peak)), peak / 203);
        }
        for (double& channel : rgb) {
          channel = transfer == Transfer::kPq ? pq_to_light(channel) : std::pow(channel, 2.4);
        }
        return displayed(to_bt709(rgb), transfer == Transfer::kPq ? peak / 203 : 1);
      });
      EXPECT_LE(error, 2) << static_cast<int>(transfer) << ", " << peak;
    }
  }
}

// Rows are done several pixels at a time, the last ones alone; what is no number must not lead astray.
TEST(DisplayTest, HdrPixelsAreTheSameAlone) {
  FrameFormat format = make_format(ColorModel::kRgb, 32);
  Frame frame = random_frame(format);
  frame.planes[1].row<float>(0)[3] = std::numeric_limits<float>::quiet_NaN();
  frame.planes[0].row<float>(0)[4] = std::numeric_limits<float>::infinity();
  for (const Transfer transfer : {Transfer::kPq, Transfer::kHlg}) {
    DisplayProperties properties;
    properties.transfer = transfer;
    properties.wide_gamut = true;
    const RgbImage image = screen_picture(frame, properties);
    FrameFormat single = format;
    single.width = single.height = 1;
    for (int x = 0; x < format.width; ++x) {
      const Frame pixel = allocate_frame(single);
      for (int p = 0; p < single.plane_count(); ++p) {
        pixel.planes[p].row<float>(0)[0] = frame.planes[p].row<float>(0)[x];
      }
      EXPECT_EQ(screen_picture(pixel, properties).row(0)[0], image.row(0)[x]) << x;
    }
  }
}

TEST(DisplayTest, ReferenceWhiteOfHdrIsBrightAndItsPeakIsWhite) {
  const FrameFormat format = make_format(ColorModel::kGray, 10);
  DisplayProperties properties;
  properties.range = ColorRange::kFull;
  properties.transfer = Transfer::kPq;
  const Frame frame = random_frame(format);
  const auto shown = [&](double code) {
    set_sample(frame, 0, 0, 0, std::round(code * 1023));
    return green(screen_picture(frame, properties).row(0)[0]);
  };
  EXPECT_EQ(shown(0), 0);
  EXPECT_GT(shown(0.5807), 200);  // 203 cd/m2
  EXPECT_EQ(shown(0.7518), 255);  // 1000 cd/m2
}

using DisplayPropertiesTest = MediaTest;

TEST_F(DisplayPropertiesTest, AreTheSources) {
  const std::string source = "-f lavfi -i color=red:size=64x48 -frames:v 1 ";
  const DisplayProperties hdr =
      Reader(make("hdr.mkv", source + "-vf setsar=4/3," + color_filter("smpte2084") +
                                 " -pix_fmt yuv420p10le -c:v ffv1 " + color_options("smpte2084")))
          .display();
  EXPECT_EQ(hdr.matrix, ColorMatrix::kBt2020);
  EXPECT_EQ(hdr.range, ColorRange::kLimited);
  EXPECT_EQ(hdr.transfer, Transfer::kPq);
  EXPECT_TRUE(hdr.wide_gamut);
  EXPECT_EQ(hdr.chroma_x, 0);
  EXPECT_EQ(hdr.chroma_y, 0.5);
  EXPECT_NEAR(hdr.pixel_aspect, 4.0 / 3, 1e-9);
  EXPECT_EQ(to_string(hdr, ColorModel::kYuv), "BT.2020 limited, HDR (PQ) tone-mapped");

  const DisplayProperties plain = Reader(make("plain.mkv", source + "-pix_fmt yuv420p -c:v ffv1")).display();
  EXPECT_EQ(plain.matrix, ColorMatrix::kBt601);
  EXPECT_EQ(plain.transfer, Transfer::kSdr);
  EXPECT_EQ(plain.orientation, Orientation{});

  const DisplayProperties high =
      Reader(make("high.mkv", "-f lavfi -i color=red:size=64x720 -frames:v 1 -pix_fmt yuv420p -c:v ffv1"))
          .display();
  EXPECT_EQ(high.matrix, ColorMatrix::kBt709);

  const DisplayProperties jpeg = Reader(make("picture.jpg", source + "-pix_fmt yuvj420p")).display();
  EXPECT_EQ(jpeg.range, ColorRange::kFull);
  EXPECT_EQ(jpeg.chroma_x, 0.5);
}

// A picture whose top left corner alone is white, turned by libav's muxer and by us: it must be found where
// players show it.
TEST_F(DisplayPropertiesTest, RotationIsThatOfPlayers) {
  for (const int degrees : {90, 180, 270}) {
    const std::string turned =
        make("turned.mp4",
             "-f lavfi -i color=black:size=64x32,drawbox=0:0:8:8:white:fill -frames:v 1 "
             "-c:v libx264 -qp 0 -pix_fmt yuv420p");
    test::rotate_track(turned, degrees);
    Reader reader(turned);
    // ffmpeg turns it by its own filters.
    Reader expected(make("expected.y4m", "-i " + turned));
    const Frame frame = std::get<Frame>(reader.read());
    const Frame truth = std::get<Frame>(expected.read());
    const RgbImage image = screen_picture(frame, reader.display());
    const RgbImage expected_image = screen_picture(truth, expected.display());
    ASSERT_EQ(image.width, expected_image.width) << degrees;
    for (const auto& [x, y] : {std::pair{2, 2}, std::pair{image.width - 3, 2}, std::pair{2, image.height - 3},
                               std::pair{image.width - 3, image.height - 3}}) {
      EXPECT_NEAR(green(image.row(y)[x]), green(expected_image.row(y)[x]), 8)
          << degrees << ": " << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace limpid::io
