// SPDX-License-Identifier: MIT

#include "io/media/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "core/frame/frame.h"
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

/// A frame whose fields have one value in each plane: `top` and `top` + 100.
FrameHandle fields_of(LibavFramePool& pool, AVPixelFormat format, int height, int top) {
  FrameHandle frame = pool.take(format, 32, height);
  const int chroma_rows = AV_CEIL_RSHIFT(height, av_pix_fmt_desc_get(format)->log2_chroma_h);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < (p == 0 ? height : chroma_rows); ++y) {
      std::fill_n(frame->data[p] + y * frame->linesize[p], frame->linesize[p],
                  static_cast<std::uint8_t>(top + 100 * (y % 2)));
    }
  }
  return frame;
}

TEST(ScalerTest, FieldsOfInterlacedFramesAreConvertedApart) {
  struct Case {
    AVPixelFormat from;
    AVPixelFormat to;
    int height;
    int new_height;
  };
  for (const auto& [from, to, height, new_height] : {Case{AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, 16, 16},
                                                     {AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P, 16, 16},
                                                     {AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P, 22, 22},
                                                     {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P, 16, 24}}) {
    LibavFramePool pool;
    const FrameHandle frame = fields_of(pool, from, height, 60);
    const FrameHandle expected = fields_of(pool, to, new_height, 60);
    const FrameHandle result = pool.take(to, 32, new_height);
    Scaler scaler("frame", {32, height, from, {}}, {32, new_height, to, {}});
    scaler.convert(*frame, *result, true);
    for (int p = 0; p < 3; ++p) {
      const int rows =
          p == 0 ? new_height : AV_CEIL_RSHIFT(new_height, av_pix_fmt_desc_get(to)->log2_chroma_h);
      for (int y = 0; y < rows; ++y) {
        ASSERT_NEAR(result->data[p][y * result->linesize[p] + 9],
                    expected->data[p][y * expected->linesize[p] + 9], 1)
            << name_of(from) << " to " << name_of(to) << ", plane " << p << ", row " << y;
      }
    }
    scaler.convert(*frame, *result, false);
    EXPECT_NE(result->data[1][9], 60) << "across the fields";
  }
}

// The chroma of a field of 4:2:0 lies a quarter of a row from its luma.
TEST(ScalerTest, ChromaOfFieldsKeepsItsPlace) {
  LibavFramePool pool;
  constexpr int kRows = 64;
  const FrameHandle frame = pool.take(AV_PIX_FMT_YUV422P, 32, kRows);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < kRows; ++y) {
      std::fill_n(frame->data[p] + y * frame->linesize[p], frame->linesize[p],
                  static_cast<std::uint8_t>(30 + 3 * y));
    }
  }
  const FrameHandle result = pool.take(AV_PIX_FMT_YUV420P, 32, kRows);
  Scaler({}, {32, kRows, AV_PIX_FMT_YUV422P, {}}, {32, kRows, AV_PIX_FMT_YUV420P, {}})
      .convert(*frame, *result, true);
  for (int y = 4; y < kRows / 2 - 4; ++y) {
    // Row 2k + f of chroma belongs to rows 4k + f and 4k + 2 + f of the picture, nearer to the outer one.
    const double position = 4 * (y / 2) + y % 2 + (y % 2 == 0 ? 0.5 : 1.5);
    EXPECT_NEAR(result->data[1][y * result->linesize[1] + 9], 30 + 3 * position, 1) << y;
  }
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

constexpr FrameFormat kGray12 = {
    .width = 24, .height = 16, .sample_type = SampleType::kUint16, .bit_depth = 12};

Frame frame_of(int (*sample)(int x, int y), std::int64_t index = 0) {
  Frame frame = allocate_frame(kGray12);
  frame.index = index;
  for (int y = 0; y < kGray12.height; ++y) {
    for (int x = 0; x < kGray12.width; ++x) {
      frame.planes[0].row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(sample(x, y));
    }
  }
  return frame;
}

int sample_of(const Frame& frame, int x, int y) { return frame.planes[0].row<const std::uint8_t>(y)[x]; }

TEST(DithererTest, FlatPicturesKeepTheirMeanInSpaceAndTime) {
  Ditherer ditherer(kGray12);
  const auto flat = [](int, int) { return 100 * 16 + 5; };
  int total = 0;
  int in_time = 0;
  for (int index = 0; index < 8; ++index) {
    const Frame result = ditherer.to_8_bits(frame_of(flat, index));
    EXPECT_EQ(result.format.sample_type, SampleType::kUint8);
    EXPECT_EQ(result.index, index);
    for (int y = 0; y < kGray12.height; ++y) {
      for (int x = 0; x < kGray12.width; ++x) {
        ASSERT_GE(sample_of(result, x, y), 100);
        ASSERT_LE(sample_of(result, x, y), 101);
        total += sample_of(result, x, y);
      }
    }
    in_time += sample_of(result, 3, 5);
  }
  constexpr int kSamples = kGray12.width * kGray12.height * 8;
  EXPECT_NEAR(static_cast<double>(total) / kSamples, 100 + 5.0 / 16, 1.0 / 64);
  EXPECT_NEAR(in_time / 8.0, 100 + 5.0 / 16, 0.13);
}

TEST(DithererTest, WholeValuesStayAsTheyAre) {
  Ditherer ditherer(kGray12);
  const Frame result = ditherer.to_8_bits(frame_of([](int x, int y) { return (x + y) / 3 * 16; }, 5));
  for (int y = 0; y < kGray12.height; ++y) {
    for (int x = 0; x < kGray12.width; ++x) {
      EXPECT_EQ(sample_of(result, x, y), (x + y) / 3);
    }
  }
}

TEST(DithererTest, SamplesAreRoundedWhereThePictureHasSteps) {
  Ditherer ditherer(kGray12);
  const auto steep = [](int x, int y) { return 200 + 23 * x + 31 * y; };
  for (const int index : {0, 3}) {
    const Frame result = ditherer.to_8_bits(frame_of(steep, index));
    for (int y = 0; y < kGray12.height; ++y) {
      for (int x = 0; x < kGray12.width; ++x) {
        EXPECT_EQ(sample_of(result, x, y), (steep(x, y) + 8) / 16);
      }
    }
  }
}

TEST(DithererTest, DoesNotExceed255) {
  Ditherer ditherer(kGray12);
  const Frame result = ditherer.to_8_bits(frame_of([](int, int) { return 4095; }));
  EXPECT_EQ(sample_of(result, 0, 0), 255);
  EXPECT_EQ(sample_of(result, 7, 7), 255);
}

TEST(DithererTest, FieldsAreDitheredApart) {
  Ditherer ditherer(kGray12);
  // Each field is flat, and they differ.
  Frame frame = frame_of([](int, int y) { return y % 2 == 0 ? 1000 : 3005; });
  frame.interlaced = true;
  const Frame result = ditherer.to_8_bits(frame);
  const auto count_of = [&](int value, int parity) {
    int count = 0;
    for (int y = parity; y < kGray12.height; y += 2) {
      const auto* const row = result.planes[0].row<const std::uint8_t>(y);
      count += static_cast<int>(std::count(row, row + kGray12.width, value));
    }
    return count;
  };
  EXPECT_EQ(count_of(62, 0), count_of(63, 0));  // 62.5
  EXPECT_GT(count_of(187, 1), 0);               // 187.8
  EXPECT_GT(count_of(188, 1), count_of(187, 1));
}

}  // namespace

}  // namespace limpid::io
