// SPDX-License-Identifier: MIT
// Decoded frames get increasing times; the first ones are counted back from the first one that has a time.
#include "io/media/reader/frame_times.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

constexpr AVRational kUnknownRate{0, 1};

DecodedFrame frame_at(std::int64_t time) {
  DecodedFrame decoded{.frame = make_frame()};
  decoded.frame->best_effort_timestamp = time;
  decoded.frame->format = AV_PIX_FMT_GRAY8;
  decoded.frame->width = decoded.frame->height = 16;
  set_duration(*decoded.frame, 40);
  return decoded;
}

FrameTimes times_of(const MemorySource& source, AVRational rate = {25, 1}, std::int64_t begin = 0) {
  return FrameTimes({*source.input().iformat, source.video(), rate, begin});
}

std::vector<std::int64_t> pop_all(FrameTimes& times) {
  std::vector<std::int64_t> all;
  while (times.has_frame()) {
    all.push_back(times.pop(kUnknownRate).frame->pts);
  }
  return all;
}

TEST(FrameTimesTest, TimesIncreaseWhateverTheSourceHas) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  EXPECT_FALSE(times.has_begun());
  std::vector<std::int64_t> given;
  for (const std::int64_t time : {std::int64_t{80}, std::int64_t{120}, std::int64_t{120}, std::int64_t{100},
                                  AV_NOPTS_VALUE, std::int64_t{202}}) {
    times.push(frame_at(time));
    ASSERT_TRUE(times.has_frame());
    given.push_back(times.pop(kUnknownRate).frame->pts);
  }
  EXPECT_EQ(given, (std::vector<std::int64_t>{80, 120, 121, 122, 162, 202}));
  EXPECT_TRUE(times.has_begun());
  EXPECT_EQ(times.end_time(), 242'000);
}

TEST(FrameTimesTest, TheFirstAreCountedBackFromTheFirstThatHasATime) {
  const MemorySource source;
  for (const AVRational rate : {AVRational{25, 1}, kUnknownRate}) {
    FrameTimes times = times_of(source, rate);
    times.push(frame_at(AV_NOPTS_VALUE));
    times.push(frame_at(AV_NOPTS_VALUE));
    EXPECT_FALSE(times.has_frame());
    times.push(frame_at(20));
    EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{-60, -20, 20})) << "by the rate or the durations";
  }
}

TEST(FrameTimesTest, NoneIsWaitedForBehindTheEnd) {
  const MemorySource source;
  FrameTimes times = times_of(source, {25, 1}, 3 * AV_TIME_BASE);
  EXPECT_FALSE(times.end()) << "none has waited";
  times.push(frame_at(AV_NOPTS_VALUE));
  times.push(frame_at(AV_NOPTS_VALUE));
  EXPECT_TRUE(times.end());
  EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{3000, 3040}));
  EXPECT_FALSE(times.end());
}

TEST(FrameTimesTest, OnlySoManyWait) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  int waiting = 0;
  while (!times.has_frame() && waiting < 1000) {
    times.push(frame_at(AV_NOPTS_VALUE));
    ++waiting;
  }
  EXPECT_EQ(waiting, 100);
}

TEST(FrameTimesTest, LargeFramesWaitInSmallerNumber) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  int waiting = 0;
  while (!times.has_frame() && waiting < 1000) {
    DecodedFrame large = frame_at(AV_NOPTS_VALUE);
    large.frame->width = large.frame->height = 8192;
    times.push(std::move(large));
    ++waiting;
  }
  EXPECT_EQ(waiting, 4) << "64 MiB each";
}

TEST(FrameTimesTest, RawStreamsHaveNoTimesToWaitFor) {
  const MemorySource source("vc1");
  FrameTimes times = times_of(source);
  times.push(frame_at(AV_NOPTS_VALUE));
  ASSERT_TRUE(times.has_frame());
  DecodedFrame decoded = times.pop(kUnknownRate);
  EXPECT_EQ(decoded.frame->pts, 0);
}

TEST(FrameTimesTest, AnUnknownDurationIsTheDecodersFrame) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  DecodedFrame decoded = frame_at(0);
  set_duration(*decoded.frame, 0);
  times.push(std::move(decoded));
  decoded = times.pop({50, 1});
  EXPECT_EQ(duration_of(*decoded.frame), 20);
  EXPECT_EQ(times.end_time(), 20'000);
}

TEST(FrameTimesTest, ASeekForgetsTheLastTime) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  times.push(frame_at(1000));
  EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{1000}));
  times.push(frame_at(1040));
  times.forget_position();
  EXPECT_FALSE(times.has_frame());
  EXPECT_FALSE(times.has_begun());
  times.push(frame_at(40));
  EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{40}));
}

}  // namespace
}  // namespace limpid::io
