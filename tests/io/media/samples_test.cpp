// SPDX-License-Identifier: MIT
#include "io/media/samples.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "io/media/pixel_format.h"

namespace limpid::io {
namespace {

constexpr int kWidth = 37;  // odd, to have a last chroma sample for half a pair
constexpr int kHeight = 11;

std::uint32_t stored_sample(const Frame& frame, int plane, int x, int y) {
  switch (frame.format.bytes_per_sample()) {
    case 1:
      return frame.planes[plane].row<std::uint8_t>(y)[x];
    case 2:
      return frame.planes[plane].row<std::uint16_t>(y)[x];
    default:
      return frame.planes[plane].row<std::uint32_t>(y)[x];
  }
}

Frame random_frame(const FrameFormat& format, unsigned seed) {
  std::mt19937 random(seed);
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        const auto value = static_cast<std::uint32_t>(random());
        switch (format.bytes_per_sample()) {
          case 1:
            frame.planes[p].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(value);
            break;
          case 2:
            frame.planes[p].row<std::uint16_t>(y)[x] =
                static_cast<std::uint16_t>(value & ((1U << format.bit_depth) - 1));
            break;
          default:
            frame.planes[p].row<std::uint32_t>(y)[x] = value;
        }
      }
    }
  }
  return frame;
}

std::vector<AVPixelFormat> all_readable_formats() {
  std::vector<AVPixelFormat> formats;
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d != nullptr;
       d = av_pix_fmt_desc_next(d)) {
    if (frame_format(av_pix_fmt_desc_get_id(d))) {
      formats.push_back(av_pix_fmt_desc_get_id(d));
    }
  }
  return formats;
}

class SampleMovingTest : public ::testing::TestWithParam<AVPixelFormat> {};

// The reference is libav's own slow reader of single samples.
TEST_P(SampleMovingTest, PacksAndUnpacksEverySampleExactly) {
  const AVPixelFormat pixel_format = GetParam();
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(pixel_format);
  FrameFormat format = *frame_format(pixel_format);
  format.width = kWidth;
  format.height = kHeight;
  const Frame original = random_frame(format, 1);
  LibavFramePool pool;
  const FrameHandle packed = pool.take(pixel_format, kWidth, kHeight);
  pack(original, *packed);

  std::vector<std::uint32_t> row(kWidth);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      const std::array<const std::uint8_t*, 4> data{packed->data[0], packed->data[1], packed->data[2],
                                                    packed->data[3]};
      av_read_image_line2(row.data(), const_cast<const std::uint8_t**>(data.data()), packed->linesize,
                          &descriptor, 0, y, p, format.plane_width(p), 0, sizeof(std::uint32_t));
      for (int x = 0; x < format.plane_width(p); ++x) {
        ASSERT_EQ(row[static_cast<std::size_t>(x)], stored_sample(original, p, x, y))
            << p << ": " << x << ", " << y;
      }
    }
  }

  const Frame unpacked = allocate_frame(format);
  unpack(*packed, unpacked);
  for (int p = 0; p < format.plane_count(); ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        ASSERT_EQ(stored_sample(unpacked, p, x, y), stored_sample(original, p, x, y))
            << p << ": " << x << ", " << y;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllFormats, SampleMovingTest, ::testing::ValuesIn(all_readable_formats()),
                         [](const auto& test) { return name_of(test.param); });

TEST(PixelFormatTest, MapsCommonFormatsToCoresAndBack) {
  const FrameFormat yuv = *frame_format(AV_PIX_FMT_YUV422P10);
  EXPECT_EQ(yuv.color_model, ColorModel::kYuv);
  EXPECT_EQ(yuv.bit_depth, 10);
  EXPECT_EQ(yuv.chroma_shift_x, 1);
  EXPECT_EQ(yuv.chroma_shift_y, 0);
  EXPECT_EQ(pixel_format(yuv), AV_PIX_FMT_YUV422P10);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_NV12)), AV_PIX_FMT_YUV420P);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_YUVJ420P)), AV_PIX_FMT_YUV420P);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_RGB48BE)), AV_PIX_FMT_GBRP16);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_BGRA)), AV_PIX_FMT_GBRAP);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_YA8)), AV_PIX_FMT_YA8);
  EXPECT_EQ(pixel_format(*frame_format(AV_PIX_FMT_GBRPF32)), AV_PIX_FMT_GBRPF32);
  EXPECT_FALSE(frame_format(AV_PIX_FMT_PAL8));
  EXPECT_FALSE(frame_format(AV_PIX_FMT_RGB565));
  EXPECT_FALSE(frame_format(AV_PIX_FMT_CUDA));
}

TEST(PixelFormatTest, OnlyWhatCoreCanReadInPlaceIsPlanar) {
  EXPECT_TRUE(is_planar(AV_PIX_FMT_YUV420P));
  EXPECT_EQ(readable_equivalent(AV_PIX_FMT_BAYER_BGGR8, false), AV_PIX_FMT_RGB24);
  EXPECT_EQ(readable_equivalent(AV_PIX_FMT_BAYER_BGGR16LE, false), AV_PIX_FMT_RGB48) << "as deep";
  EXPECT_TRUE(is_planar(AV_PIX_FMT_GRAY16LE));
  EXPECT_TRUE(is_planar(AV_PIX_FMT_GBRAP12LE));
  EXPECT_TRUE(is_planar(AV_PIX_FMT_GBRPF32LE));
  EXPECT_FALSE(is_planar(AV_PIX_FMT_GRAY16BE));
  EXPECT_FALSE(is_planar(AV_PIX_FMT_NV12));
  EXPECT_FALSE(is_planar(AV_PIX_FMT_RGB24));
  EXPECT_FALSE(is_planar(AV_PIX_FMT_YA8));
}

TEST(LibavFramePoolTest, GivesAFreeFrameAgainIfItIsOfTheFormatAskedFor) {
  LibavFramePool pool;
  const auto take = [&](AVPixelFormat format, int width, int height) {
    const FrameHandle frame = pool.take(format, width, height);
    EXPECT_EQ(frame->format, format);
    EXPECT_EQ(frame->width, width);
    EXPECT_EQ(frame->height, height);
    EXPECT_GE(frame->linesize[0], width);
    return frame->data[0];
  };
  const std::uint8_t* first = take(AV_PIX_FMT_GRAY8, 64, 48);
  EXPECT_EQ(take(AV_PIX_FMT_GRAY8, 64, 48), first);
  take(AV_PIX_FMT_GRAY8, 128, 48);
  take(AV_PIX_FMT_GRAY8, 128, 64);
  take(AV_PIX_FMT_YUV420P, 128, 64);
  const FrameHandle held = pool.take(AV_PIX_FMT_YUV420P, 128, 64);
  EXPECT_NE(take(AV_PIX_FMT_YUV420P, 128, 64), held->data[0]);
}

TEST(ViewTest, RgbPlanesAreInCoresOrderAndNotCopied) {
  LibavFramePool pool;
  const std::shared_ptr<AVFrame> decoded = pool.take(AV_PIX_FMT_GBRP, 8, 8);
  FrameFormat format = *frame_format(AV_PIX_FMT_GBRP);
  format.width = 8;
  format.height = 8;
  const Frame frame = view_of(decoded, format);
  const auto address = [](const std::uint8_t* p) { return reinterpret_cast<const std::byte*>(p); };
  EXPECT_EQ(frame.planes[0].data, address(decoded->data[2]));
  EXPECT_EQ(frame.planes[1].data, address(decoded->data[0]));
  EXPECT_EQ(frame.planes[2].data, address(decoded->data[1]));
  const FrameHandle back = view_of(frame, AV_PIX_FMT_GBRP);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(back->data[p], decoded->data[p]);
  }
}

TEST(ViewTest, KeepsTheSamplesAliveUntilLibavIsDone) {
  Frame frame = allocate_frame({.width = 8, .height = 8});
  const std::weak_ptr<void> samples = frame.samples;
  FrameHandle view = view_of(frame, AV_PIX_FMT_GRAY8);
  frame = {};
  EXPECT_FALSE(samples.expired());
  view.reset();
  EXPECT_TRUE(samples.expired());
}

}  // namespace
}  // namespace limpid::io
