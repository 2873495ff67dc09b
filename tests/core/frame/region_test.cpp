// SPDX-License-Identifier: MIT
#include "core/frame/region.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace limpid {
namespace {

FrameFormat yuv420_with_alpha(int width, int height) {
  return {.width = width,
          .height = height,
          .color_model = ColorModel::kYuv,
          .chroma_shift_x = 1,
          .chroma_shift_y = 1,
          .sample_type = SampleType::kUint16,
          .bit_depth = 10,
          .has_alpha = true};
}

TEST(Region, LiesInTheFrameOrNot) {
  const FrameFormat format = yuv420_with_alpha(40, 30);
  EXPECT_TRUE(is_within({0, 0, 40, 30}, format));
  EXPECT_TRUE(is_within({39, 29, 1, 1}, format));
  for (const Region& region : {Region{-1, 0, 4, 4}, Region{0, -1, 4, 4}, Region{37, 0, 4, 4},
                               Region{0, 27, 4, 4}, Region{0, 0, 0, 4}, Region{0, 0, 4, 0}}) {
    EXPECT_FALSE(is_within(region, format)) << region.x << "," << region.y;
  }
}

TEST(Region, HasPartsOfEachPlaneOutside) {
  const FrameFormat format = yuv420_with_alpha(41, 31);
  EXPECT_EQ(parts_outside({8, 4, 16, 12}, format, 0),
            (std::vector<Region>{{0, 0, 41, 4}, {0, 16, 41, 15}, {0, 4, 8, 12}, {24, 4, 17, 12}}));
  EXPECT_EQ(parts_outside({9, 0, 32, 30}, format, 1), (std::vector<Region>{{0, 15, 21, 1}, {0, 0, 4, 15}}));
  EXPECT_TRUE(parts_outside({0, 0, 41, 31}, format, 0).empty());
  EXPECT_TRUE(parts_outside({0, 0, 41, 31}, format, 2).empty());
}

TEST(Region, GrowsToWholeChromaSamplesAndBothFields) {
  const FrameFormat format = yuv420_with_alpha(41, 31);
  EXPECT_EQ(whole_samples({3, 5, 2, 2}, format, false), (Region{2, 4, 4, 4}));
  EXPECT_EQ(whole_samples({3, 6, 2, 2}, format, true), (Region{2, 4, 4, 4}));
  EXPECT_EQ(whole_samples({3, 6, 2, 3}, format, true), (Region{2, 4, 4, 8}));
  EXPECT_EQ(whole_samples({39, 29, 2, 2}, format, true), (Region{38, 28, 3, 3}));
  EXPECT_EQ(whole_samples({3, 5, 2, 2}, FrameFormat{.width = 41, .height = 31}, false), (Region{3, 5, 2, 2}));
}

TEST(Region, APartShowsTheFramesOwnSamples) {
  const Frame frame = allocate_frame(yuv420_with_alpha(41, 31));
  for (int p = 0; p < 4; ++p) {
    for (int y = 0; y < frame.planes[p].height; ++y) {
      for (int x = 0; x < frame.planes[p].width; ++x) {
        frame.planes[p].row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(100 * y + x);
      }
    }
  }
  const Frame part = part_of(frame, {6, 8, 35, 23});
  EXPECT_EQ(part.format.width, 35);
  EXPECT_EQ(part.format.height, 23);
  EXPECT_EQ(part.samples, frame.samples);
  for (int p = 0; p < 4; ++p) {
    const int shift = p == 1 || p == 2 ? 1 : 0;
    EXPECT_EQ(part.planes[p].width, part.format.plane_width(p));
    EXPECT_EQ(part.planes[p].height, part.format.plane_height(p));
    for (int y = 0; y < part.planes[p].height; ++y) {
      for (int x = 0; x < part.planes[p].width; ++x) {
        ASSERT_EQ(part.planes[p].row<std::uint16_t>(y)[x], 100 * (y + (8 >> shift)) + x + (6 >> shift));
      }
    }
  }
}

}  // namespace
}  // namespace limpid
