// SPDX-License-Identifier: MIT

#include "core/frame/frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "tests/oracle/pictures.h"

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

TEST(Fields, ProgressiveFrameIsItsOnlyPicture) {
  const auto pictures = pictures_of(false);
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].first, 0);
  EXPECT_EQ(pictures[0].spacing, 1);
  EXPECT_EQ(pictures[0].count(7), 7);
}

TEST(Fields, AreEvenThenOddRows) {
  const auto pictures = pictures_of(true);
  ASSERT_EQ(pictures.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pictures[i].first, i);
    EXPECT_EQ(pictures[i].spacing, 2);
  }
  EXPECT_EQ(pictures[0].count(7), 4);
  EXPECT_EQ(pictures[1].count(7), 3);
  EXPECT_EQ(pictures[0].count(1), 1);
  EXPECT_EQ(pictures[1].count(1), 0);
}

TEST(Fields, HaveTheirPlanesRows) {
  const FrameFormat format = oracle::yuv(8, 6, 1, 1);  // chroma has 3 rows
  const auto pictures = pictures_of(true);
  EXPECT_EQ(plane_heights(format, pictures[0]), (PlaneHeights{3, 2, 2, 0}));
  EXPECT_EQ(plane_heights(format, pictures[1]), (PlaneHeights{3, 1, 1, 0}));
}

// The definition of IEEE 754, 3.4.
double value_of(int bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? fraction == 0 ? HUGE_VAL : std::nan("")
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

Half of_bits(int bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

TEST(HalfTest, EachHasItsValueAndComesBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = of_bits(bits);
    if (std::isnan(value_of(bits))) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(value), value_of(bits)) << bits;
      EXPECT_EQ(Half(value).bits, bits);
    }
  }
}

TEST(HalfTest, FloatsBetweenTwoAreRoundedToTheNearerAndTiesToTheEvenOne) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int bits = 0; bits < 0x7BFF; ++bits) {
    const auto middle = static_cast<float>((value_of(bits) + value_of(bits + 1)) / 2);
    EXPECT_EQ(Half(middle).bits, bits + bits % 2) << bits;
    EXPECT_EQ(Half(std::nextafter(middle, -kInfinity)).bits, bits) << bits;
    EXPECT_EQ(Half(std::nextafter(middle, kInfinity)).bits, bits + 1) << bits;
    EXPECT_EQ(Half(-middle).bits, 0x8000 | (bits + bits % 2)) << bits;
  }
  EXPECT_EQ(Half(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(Half(-std::numeric_limits<float>::max()).bits, 0xFC00);
}

// A pool, the number of frames it has made, and the number of those that still exist.
class FramePoolTest : public testing::Test {
 protected:
  static FrameFormat gray(int width, int height) { return {.width = width, .height = height}; }

  std::shared_ptr<int> alive_ = std::make_shared<int>();
  int made_ = 0;
  FramePool pool_{[this](const FrameFormat& format) {
    ++made_;
    Frame frame = allocate_frame(format);
    frame.samples =
        std::shared_ptr<void>(frame.samples.get(), [samples = frame.samples, alive = alive_](void*) {});
    return frame;
  }};
  long frames_alive() const { return alive_.use_count() - 1; }
};

TEST_F(FramePoolTest, GivesAFrameThatCameBackAgain) {
  Frame first = pool_.allocate(gray(64, 48));
  const std::byte* memory = first.planes[0].data;
  const Frame second = pool_.allocate(gray(64, 48));
  EXPECT_NE(second.planes[0].data, memory);
  first = {};
  EXPECT_EQ(pool_.allocate(gray(64, 48)).planes[0].data, memory);
  EXPECT_EQ(made_, 2);
}

TEST_F(FramePoolTest, StreamsOfSeveralFormatsInTurnMakeNoMoreFramesThanAreAlive) {
  for (int i = 0; i < 300; ++i) {
    for (int stream = 0; stream < 7; ++stream) {
      const FrameFormat format = gray(16 + stream, 16);
      EXPECT_EQ(pool_.allocate(format).format, format);
    }
  }
  EXPECT_EQ(made_, 7);
}

TEST_F(FramePoolTest, UnusedMemoryIsFreed) {
  std::vector<Frame> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(pool_.allocate(gray(1920, 1080)));
  }
  many.clear();
  EXPECT_EQ(frames_alive(), 20);
  for (int i = 0; i < 1024; ++i) {
    pool_.allocate(gray(16, 16));
  }
  EXPECT_EQ(frames_alive(), 21);
  pool_.allocate(gray(16, 16));
  EXPECT_EQ(frames_alive(), 1);
  // As after frames of one format that were only needed once.
  for (int i = 0; i < 20; ++i) {
    many.push_back(pool_.allocate(gray(16, 16)));
  }
  many.clear();
  for (int i = 0; i < 1100; ++i) {
    pool_.allocate(gray(16, 16));
  }
  EXPECT_EQ(frames_alive(), 1);
}

// As with several GPUs, whose results wait for those of the one with the earliest segment.
TEST_F(FramePoolTest, AStreamThatNeedsManyNowAndThenMakesThemOnce) {
  constexpr int kMany = 500;
  for (int round = 0; round < 3; ++round) {
    std::vector<Frame> many;
    for (int i = 0; i < kMany; ++i) {
      many.push_back(pool_.allocate(gray(16, 16)));
    }
    many.clear();
    for (int i = 0; i < 4 * kMany; ++i) {
      pool_.allocate(gray(16, 16));
    }
  }
  EXPECT_EQ(made_, kMany);
}

TEST_F(FramePoolTest, FramesOutliveThePool) {
  auto pool = std::make_unique<FramePool>(pool_);
  const Frame frame = pool->allocate(gray(16, 16));
  pool.reset();
  pool_ = FramePool();
  frame.planes[0].data[0] = std::byte{1};
  EXPECT_EQ(frames_alive(), 1);
}

TEST_F(FramePoolTest, SeveralThreadsMayShareIt) {
  FramePool pool;
  constexpr int kFrames = 250;  // per thread: too few in all for the pool to release a waiting frame
  const std::int64_t before = allocated_frames();
  {
    std::vector<std::jthread> threads(4);
    for (std::size_t t = 0; t < threads.size(); ++t) {
      threads[t] = std::jthread([&pool, size = 16 + static_cast<int>(t % 2)] {
        for (int i = 0; i < kFrames; ++i) {
          Frame frame = pool.allocate(gray(size, 16));
          EXPECT_EQ(frame.format.width, size);
          frame.planes[0].data[0] = std::byte{1};
        }
      });
    }
  }
  EXPECT_LE(allocated_frames() - before, 4);
}

}  // namespace

}  // namespace limpid
