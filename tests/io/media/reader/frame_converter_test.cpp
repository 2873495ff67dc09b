// Decoded frames become frames of one format.
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
  EXPECT_TRUE(converter.fits(*first, AV_PIX_FMT_YUVJ420P)) << "the range is no part of it";
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
