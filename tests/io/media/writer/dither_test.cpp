// SPDX-License-Identifier: MIT
#include "io/media/writer/dither.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/frame/frame.h"

namespace limpid::io {
namespace {

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
