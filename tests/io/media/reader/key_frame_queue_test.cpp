// SPDX-License-Identifier: MIT
// The search for the key frame at which decoding begins.
#include <gtest/gtest.h>

#include <vector>

#include "io/media/reader/range.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

std::vector<std::int64_t> times_left(KeyFrameQueue& queue) {
  std::vector<std::int64_t> times;
  while (const PacketHandle packet = queue.take()) {
    times.push_back(packet->pts);
  }
  return times;
}

TEST(KeyFrameQueueTest, TheLastKeyFrameThatIsEarlyEnoughIsFirst) {
  KeyFrameQueue queue;
  queue.begin(100);
  EXPECT_TRUE(queue.add(packet_at(0)));
  EXPECT_TRUE(queue.is_empty()) << "nothing is decoded before a key frame";
  EXPECT_TRUE(queue.add(packet_at(20, AV_PKT_FLAG_KEY)));
  EXPECT_TRUE(queue.add(packet_at(40)));
  EXPECT_TRUE(queue.add(packet_at(60, AV_PKT_FLAG_KEY)));
  EXPECT_TRUE(queue.add(packet_at(100)));
  EXPECT_FALSE(queue.add(packet_at(120, AV_PKT_FLAG_KEY))) << "too late for a better one";
  EXPECT_EQ(times_left(queue), (std::vector<std::int64_t>{60, 100, 120}));
  EXPECT_TRUE(queue.is_empty());
}

TEST(KeyFrameQueueTest, AKeyFrameThatIsShownLaterDoesNotCount) {
  KeyFrameQueue queue;
  queue.begin(100);
  PacketHandle packet = packet_at(90, AV_PKT_FLAG_KEY);
  packet->pts = 130;
  EXPECT_TRUE(queue.add(std::move(packet)));
  EXPECT_FALSE(queue.add(packet_at(140)));
  EXPECT_TRUE(queue.is_empty());
}

TEST(KeyFrameQueueTest, OneOfTheTimesIsEnough) {
  KeyFrameQueue queue;
  queue.begin(100);
  PacketHandle packet = packet_at(50, AV_PKT_FLAG_KEY);
  packet->pts = AV_NOPTS_VALUE;
  EXPECT_TRUE(queue.add(std::move(packet)));
  packet = packet_at(110);
  packet->dts = AV_NOPTS_VALUE;
  EXPECT_FALSE(queue.add(std::move(packet)));
  packet = packet_at(AV_NOPTS_VALUE);
  EXPECT_TRUE(queue.add(std::move(packet))) << "it may be early";
}

TEST(KeyFrameQueueTest, EnoughBytesEndTheSearch) {
  KeyFrameQueue queue;
  queue.begin(1000);
  PacketHandle packet = packet_at(0, AV_PKT_FLAG_KEY);
  packet->size = 40 << 20;
  EXPECT_TRUE(queue.add(std::move(packet)));
  packet = packet_at(40);
  packet->size = 30 << 20;
  EXPECT_FALSE(queue.add(std::move(packet)));
}

TEST(KeyFrameQueueTest, ASecondSearchBeginsAnew) {
  KeyFrameQueue queue;
  queue.begin(100);
  queue.add(packet_at(0, AV_PKT_FLAG_KEY));
  queue.begin(50);
  EXPECT_TRUE(queue.is_empty());
  EXPECT_EQ(queue.latest(), 50);
}

}  // namespace
}  // namespace limpid::io
