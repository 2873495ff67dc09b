// SPDX-License-Identifier: MIT
#include "core/frame/frame_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace limpid {
namespace {

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
