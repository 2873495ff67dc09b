// SPDX-License-Identifier: MIT
// Conversion of decoded frames to frames of one format.
#include "io/media/reader/frame_converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace limpid::io {
namespace {

FrameHandle picture_of(AVPixelFormat format, int width, int height, int value = 0) {
  FrameHandle frame = make_frame();
  frame->format = format;
  frame->width = width;
  frame->height = height;
  check(av_frame_get_buffer(frame.get(), 0), "frame", "can't make it");
  for (int plane = 0; plane < 4 && frame->data[plane] != nullptr; ++plane) {
    const int rows = plane == 0 ? height : -(-height >> 1);
    std::fill_n(frame->data[plane], frame->linesize[plane] * rows, static_cast<std::uint8_t>(value));
  }
  return frame;
}

FrameConverter converter_for(const AVFrame& first, const ReaderOptions& options = {}) {
  return FrameConverter("a.mkv", options, first, static_cast<AVPixelFormat>(first.format));
}

TEST(FrameConverterTest, PlanarSamplesStayWhereTheyAre) {
  FrameHandle frame = picture_of(AV_PIX_FMT_YUV420P, 32, 16);
  FrameConverter converter = converter_for(*frame);
  const std::uint8_t* const samples = frame->data[0];
  const Frame converted = converter.convert(std::move(frame));
  EXPECT_EQ(converted.planes[0].row<std::uint8_t>(0), samples);
  EXPECT_EQ(converted.format.width, 32);
  EXPECT_EQ(converter.copies(), 0);
}

TEST(FrameConverterTest, MemoryOfTheCallerIsFilled) {
  FrameHandle frame = picture_of(AV_PIX_FMT_YUV420P, 32, 16, 77);
  FramePool pool;
  FrameConverter converter = converter_for(
      *frame, {.allocate = [&pool](const FrameFormat& format) { return pool.allocate(format); }});
  const Frame converted = converter.convert(std::move(frame));
  EXPECT_EQ(converted.planes[0].row<std::uint8_t>(15)[31], 77);
  EXPECT_EQ(converter.copies(), 1);
}

TEST(FrameConverterTest, PackedSamplesAreMovedAndOthersConverted) {
  FrameHandle packed = picture_of(AV_PIX_FMT_RGB24, 32, 16, 5);
  FrameConverter mover = converter_for(*packed);
  EXPECT_EQ(mover.format().color_model, ColorModel::kRgb);
  EXPECT_EQ(mover.convert(std::move(packed)).planes[2].row<std::uint8_t>(3)[7], 5);
  EXPECT_EQ(mover.copies(), 1);

  FrameHandle narrow = picture_of(AV_PIX_FMT_RGB565LE, 32, 16);
  FrameConverter scaler = converter_for(*narrow);
  scaler.convert(std::move(narrow));
  EXPECT_EQ(scaler.copies(), 2) << "swscale prepares it";
}

TEST(FrameConverterTest, AFrameThatDoesNotFitIsAdapted) {
  const FrameHandle first = picture_of(AV_PIX_FMT_YUV420P, 32, 16);
  FrameConverter converter = converter_for(*first);
  EXPECT_TRUE(converter.fits(*first, AV_PIX_FMT_YUV420P));
  EXPECT_FALSE(converter.fits(*first, AV_PIX_FMT_YUVJ420P)) << "it is of full range";
  EXPECT_FALSE(converter.fits(*first, AV_PIX_FMT_YUV422P));
  const FrameHandle larger = picture_of(AV_PIX_FMT_YUV444P, 64, 64, 90);
  EXPECT_FALSE(converter.fits(*larger, AV_PIX_FMT_YUV444P));
  larger->pts = 123;
  FrameHandle adapted = converter.adapted(*larger, 7);
  EXPECT_TRUE(converter.fits(*adapted, AV_PIX_FMT_YUV420P));
  EXPECT_EQ(adapted->pts, 123);
  EXPECT_EQ(converter.convert(std::move(adapted)).planes[0].row<std::uint8_t>(8)[8], 90);
  EXPECT_EQ(converter.copies(), 1);
}

TEST(FrameConverterTest, RangeAndMatrixBecomeThoseOfTheFirst) {
  const FrameHandle first = picture_of(AV_PIX_FMT_YUV444P, 32, 16);
  first->color_range = AVCOL_RANGE_MPEG;
  first->colorspace = AVCOL_SPC_BT709;
  FrameConverter converter = converter_for(*first);
  const auto yuv = [](int y, int u, int v) {
    FrameHandle frame = picture_of(AV_PIX_FMT_YUV444P, 32, 16, y);
    for (const auto& [plane, value] : {std::pair{1, u}, std::pair{2, v}}) {
      for (int row = 0; row < 16; ++row) {
        std::fill_n(frame->data[plane] + row * frame->linesize[plane], 32, static_cast<std::uint8_t>(value));
      }
    }
    return frame;
  };

  const FrameHandle full = yuv(255, 128, 128);
  EXPECT_TRUE(converter.fits(*full, AV_PIX_FMT_YUV444P)) << "without tags";
  full->color_range = AVCOL_RANGE_JPEG;
  EXPECT_FALSE(converter.fits(*full, AV_PIX_FMT_YUV444P));
  const FrameHandle limited = converter.adapted(*full, 1);
  EXPECT_EQ(limited->color_range, AVCOL_RANGE_MPEG);
  EXPECT_EQ(limited->data[0][5], 235);

  const FrameHandle green = yuv(145, 54, 34);  // pure green by BT.601; by BT.709 it is 173, 42, 26
  green->colorspace = AVCOL_SPC_SMPTE170M;
  EXPECT_FALSE(converter.fits(*green, AV_PIX_FMT_YUV444P));
  const FrameHandle converted = converter.adapted(*green, 2);
  EXPECT_EQ(converted->colorspace, AVCOL_SPC_BT709);
  EXPECT_NEAR(converted->data[0][5], 173, 1);
  EXPECT_NEAR(converted->data[1][5], 42, 1);
  EXPECT_NEAR(converted->data[2][5], 26, 1);
}

TEST(FrameConverterTest, FramesAreAsDeepAsTheOutput) {
  FrameHandle limited = picture_of(AV_PIX_FMT_YUV420P, 32, 16, 235);
  FrameConverter converter = converter_for(*limited, {.least_depth = 10});
  EXPECT_EQ(converter.format().bit_depth, 10);
  const Frame deeper = converter.convert(std::move(limited));
  EXPECT_EQ(deeper.planes[0].row<std::uint16_t>(15)[31], 940);
  EXPECT_EQ(deeper.planes[1].row<std::uint16_t>(7)[15], 940);

  FrameHandle rgb = picture_of(AV_PIX_FMT_RGB24, 32, 16, 255);
  FrameConverter full = converter_for(*rgb, {.least_depth = 16});
  EXPECT_EQ(full.convert(std::move(rgb)).planes[1].row<std::uint16_t>(3)[3], 65535);

  const FrameHandle deep = picture_of(AV_PIX_FMT_YUV420P10, 32, 16);
  EXPECT_EQ(converter_for(*deep, {.least_depth = 8}).format().bit_depth, 10);
}

TEST(FrameConverterTest, ScalingChangesTheShapeOfPixels) {
  const FrameHandle first = picture_of(AV_PIX_FMT_YUV420P, 32, 32);
  FrameConverter converter = converter_for(*first);
  const FrameHandle wide = picture_of(AV_PIX_FMT_YUV420P, 64, 32);
  const FrameHandle adapted = converter.adapted(*wide, 1);
  EXPECT_EQ(av_cmp_q(adapted->sample_aspect_ratio, {2, 1}), 0);
}

TEST(FrameConverterTest, AFormatThatIsNotSupportedIsAnError) {
  const FrameHandle frame = make_frame();
  frame->format = AV_PIX_FMT_VAAPI;
  frame->width = frame->height = 16;
  try {
    converter_for(*frame);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "a.mkv: its pixel format vaapi is not supported");
  }
}

}  // namespace
}  // namespace limpid::io
