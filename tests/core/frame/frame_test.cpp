// SPDX-License-Identifier: MIT
#include "core/frame/frame.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/base/error.h"

namespace limpid {
namespace {

FrameFormat yuv420(int width, int height) {
  return {.width = width,
          .height = height,
          .color_model = ColorModel::kYuv,
          .chroma_shift_x = 1,
          .chroma_shift_y = 1};
}

TEST(FrameFormat, ChromaPlanesOfOddSizesAreRoundedUp) {
  const FrameFormat format = yuv420(7, 9);
  EXPECT_EQ(format.plane_width(0), 7);
  EXPECT_EQ(format.plane_height(0), 9);
  EXPECT_EQ(format.plane_width(1), 4);
  EXPECT_EQ(format.plane_height(2), 5);
}

TEST(FrameFormat, AlphaPlaneHasFullSize) {
  FrameFormat format = yuv420(7, 9);
  format.has_alpha = true;
  ASSERT_EQ(format.plane_count(), 4);
  EXPECT_EQ(format.plane_width(3), 7);
  EXPECT_EQ(format.plane_height(3), 9);
}

TEST(FrameFormat, CodeValueScalesWithDepth) {
  FrameFormat format = yuv420(8, 8);
  EXPECT_DOUBLE_EQ(format.code_value(), 1);
  format.sample_type = SampleType::kUint16;
  format.bit_depth = 10;
  EXPECT_DOUBLE_EQ(format.code_value(), 4);
  format.sample_type = SampleType::kFloat32;
  format.bit_depth = 32;
  EXPECT_DOUBLE_EQ(format.code_value(), 1.0 / 255);
}

TEST(FrameFormat, ValidateNamesWhatIsWrong) {
  FrameFormat format = yuv420(8, 8);
  EXPECT_NO_THROW(format.validate("clip.mkv"));
  format.bit_depth = 12;
  try {
    format.validate("clip.mkv");
    FAIL() << "12-bit samples in bytes were accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "clip.mkv: 12-bit samples do not fit in bytes (9 to 16 bits need 16-bit samples)");
  }
  EXPECT_THROW(yuv420(0, 8).validate("clip.mkv"), Error);
  EXPECT_THROW(yuv420(8, kMaxDimension + 1).validate("clip.mkv"), Error);
}

TEST(Attachment, IsReadOnlyAsTheTypeThatWasStored) {
  const auto number = std::make_shared<int>(7);
  Attachment attachment = number;
  ASSERT_NE(attachment.get<int>(), nullptr);
  EXPECT_EQ(*attachment.get<int>(), 7);
  EXPECT_EQ(attachment.get<float>(), nullptr);
  EXPECT_EQ(attachment, Attachment(number));
  EXPECT_FALSE(attachment == Attachment(std::make_shared<int>(7)));
  attachment.reset();
  EXPECT_EQ(attachment.get<int>(), nullptr);
  EXPECT_EQ(number.use_count(), 1);
}

TEST(AllocateFrame, PlanesDoNotOverlap) {
  const Frame frame = allocate_frame(yuv420(33, 17));
  for (int p = 0; p < 3; ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        plane.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(p + 1);
      }
    }
  }
  for (int p = 0; p < 3; ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        ASSERT_EQ(plane.row<std::uint8_t>(y)[x], p + 1);
      }
    }
  }
}

}  // namespace
}  // namespace limpid
