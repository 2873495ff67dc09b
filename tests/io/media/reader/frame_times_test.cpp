// SPDX-License-Identifier: MIT
// Decoded frames get increasing times; the first ones are counted back from the first one that has a time.
// The clock of a source: its zero, and removal of jumps.

#include "io/media/reader/frame_times.h"

#include <gtest/gtest.h>

#include <vector>

#include "io/media/source.h"
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

struct Given {
  std::vector<std::int64_t> times;
  std::int64_t wrong = 0;
};

/// The times of the frames of a whole source that has these times.
Given given_for(const std::vector<std::int64_t>& own, const char* demuxer = "matroska") {
  const MemorySource source(demuxer);
  FrameTimes times = times_of(source);
  Given given;
  const auto pop = [&] {
    while (times.has_frame()) {
      const DecodedFrame decoded = times.pop(kUnknownRate);
      given.times.push_back(decoded.frame->pts);
      given.wrong += decoded.has_wrong_time ? 1 : 0;
    }
  };
  for (const std::int64_t time : own) {
    times.push(frame_at(time));
    pop();
  }
  times.end();
  pop();
  return given;
}

using Times = std::vector<std::int64_t>;

TEST(FrameTimesTest, TimesIncreaseWhateverTheSourceHas) {
  const Given given = given_for({80, 120, 120, 100, AV_NOPTS_VALUE, 202});
  EXPECT_EQ(given.times, (Times{80, 120, 121, 122, 162, 202}));
  EXPECT_EQ(given.wrong, 1) << "equal times may be rounded";
  EXPECT_EQ(given_for({80, 120, 120, 160}).times, (Times{80, 120, 140, 160}));
}

TEST(FrameTimesTest, OneWrongTimeIsPlacedBetweenItsNeighbors) {
  const Times expected{0, 40, 80, 120, 160};
  for (const std::int64_t wrong : {30'080, 280, 120, 40, 0, -700}) {
    SCOPED_TRACE(wrong);
    const Given given = given_for({0, 40, wrong, 120, 160});
    EXPECT_EQ(given.times, expected);
    EXPECT_EQ(given.wrong, wrong == 40 ? 0 : 1);
  }
  EXPECT_EQ(given_for({5000, 40, 80}).times, (Times{0, 40, 80})) << "the first one";
}

TEST(FrameTimesTest, OneFaultDoesNotMakeDecodingTimesRight) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  Times given;
  for (int i = 0; i < 200; ++i) {
    // libavcodec's choice after a fault: decoding times.
    DecodedFrame decoded = frame_at(i > 20 ? 40 * i + 80 : 40 * i);
    const bool is_broken = i > 100;
    decoded.frame->pts = i == 20 ? 9000 : is_broken ? 40 * (i - i % 3) : 40 * i;
    times.push(std::move(decoded));
    for (const std::int64_t time : pop_all(times)) {
      given.push_back(time);
    }
  }
  ASSERT_GT(given.size(), 150U);
  EXPECT_EQ(given[20], 800);
  EXPECT_EQ(given[90], 3600);
  EXPECT_EQ(given[150], 6080) << "many times are wrong";
}

TEST(FrameTimesTest, GapsAndTheLastTimeStay) {
  for (const Times& times : {Times{0, 40, 5000, 5040}, Times{0, 40, 80, 5000}, Times{5000, 5040, 5080},
                             Times{0, 40, 5000, 9000, 9040}, Times{0, 17, 300, 317, 318, 600}}) {
    const Given given = given_for(times);
    EXPECT_EQ(given.times, times);
    EXPECT_EQ(given.wrong, 0);
  }
}

TEST(FrameTimesTest, DevicesAndRawStreamsDoNotWait) {
  for (const char* const demuxer : {"lavfi", "vc1"}) {
    const MemorySource source(demuxer);
    FrameTimes times = times_of(source);
    for (const std::int64_t time : {1000, 1040, 9000}) {
      times.push(frame_at(time));
      ASSERT_TRUE(times.has_frame()) << demuxer;
      EXPECT_EQ(times.pop(kUnknownRate).frame->pts, time);
    }
  }
}

TEST(FrameTimesTest, TheEndFollowsFromTheLastFrame) {
  const MemorySource source;
  FrameTimes times = times_of(source);
  EXPECT_FALSE(times.has_begun());
  times.push(frame_at(0));
  times.pop(kUnknownRate);
  EXPECT_TRUE(times.has_begun());
  EXPECT_EQ(times.end_time(), 40'000);
}

TEST(FrameTimesTest, TheFirstAreCountedBackFromTheFirstThatHasATime) {
  const MemorySource source;
  for (const AVRational rate : {AVRational{25, 1}, kUnknownRate}) {
    FrameTimes times = times_of(source, rate);
    for (int i = 0; i < 3; ++i) {
      times.push(frame_at(AV_NOPTS_VALUE));
    }
    EXPECT_FALSE(times.has_frame());
    times.push(frame_at(20));
    EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{-100, -60, -20, 20}))
        << "by the rate or the durations";
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
  times.push(frame_at(0));
  EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{0}));
  times.push(frame_at(40));
  times.forget_position();
  EXPECT_FALSE(times.has_frame());
  EXPECT_FALSE(times.has_begun());
  times.push(frame_at(4000));
  EXPECT_EQ(pop_all(times), (std::vector<std::int64_t>{4000}));
}

/// The time of a packet of the video after the clock's shift, in milliseconds.
std::int64_t shifted(SourceClock& clock, const MemorySource& source, std::int64_t time,
                     bool times_are_guesses = false, int stream = 0) {
  const PacketHandle packet = packet_at(time);
  packet->stream_index = stream;
  clock.shift(*packet, *source.input().streams[stream], times_are_guesses);
  EXPECT_EQ(packet->pts, packet->dts);
  return packet->pts;
}

TEST(SourceClockTest, AContainersTimesAreItsOwnButForTheZero) {
  const MemorySource source;
  source.input().start_time = 7 * AV_TIME_BASE;
  SourceClock clock(source.input());
  EXPECT_EQ(shifted(clock, source, 7000), 7000);
  clock.set_zero(2 * AV_TIME_BASE);
  EXPECT_EQ(shifted(clock, source, 7000), 5000);
  EXPECT_EQ(shifted(clock, source, 100'000), 98'000) << "a gap is no jump";
  EXPECT_EQ(shifted(clock, source, 50'000), 48'000) << "nor is a step back";
  EXPECT_EQ(clock.first_jump(), TimeRange::kOpen);
}

TEST(SourceClockTest, CoverArtHasNoTime) {
  const MemorySource source;
  SourceClock clock(source.input());
  clock.set_zero(2 * AV_TIME_BASE);
  source.video().disposition |= AV_DISPOSITION_ATTACHED_PIC;
  EXPECT_EQ(shifted(clock, source, 0), 0);
}

TEST(SourceClockTest, UnknownTimesStayUnknown) {
  const MemorySource source;
  SourceClock clock(source.input());
  clock.set_zero(2 * AV_TIME_BASE);
  const PacketHandle packet = make_packet();
  clock.shift(*packet, source.video(), false);
  EXPECT_EQ(packet->pts, AV_NOPTS_VALUE);
  EXPECT_EQ(packet->dts, AV_NOPTS_VALUE);
}

TEST(SourceClockTest, MpegStreamsBeginAtZeroAndGoOnBehindAJump) {
  const MemorySource source("mpegts");
  source.input().start_time = 10 * AV_TIME_BASE;
  SourceClock clock(source.input());
  EXPECT_EQ(shifted(clock, source, 10'000), 0);
  EXPECT_EQ(shifted(clock, source, 10'040), 40);
  EXPECT_EQ(shifted(clock, source, 19'000), 9000) << "less than 10 s is a gap";
  EXPECT_EQ(clock.first_jump(), TimeRange::kOpen);
  EXPECT_EQ(shifted(clock, source, 99'000), 9040) << "more is a jump";
  EXPECT_EQ(shifted(clock, source, 98'990), 9030) << "reordered";
  EXPECT_EQ(shifted(clock, source, 5000), 9070) << "a step back";
  EXPECT_EQ(clock.first_jump(), 9040 * 1000);
  EXPECT_EQ(clock.first_offset(), -10 * AV_TIME_BASE);

  clock.forget_position();
  EXPECT_EQ(clock.offset(), clock.first_offset());
  EXPECT_EQ(shifted(clock, source, 12'000), 2000);
  EXPECT_EQ(clock.first_jump(), 9040 * 1000) << "of the source, wherever it is read";
}

TEST(SourceClockTest, AudioStoredBehindAJumpIsNotASecondJump) {
  for (const std::int64_t jump : {-4000, -200, 12'000}) {
    SCOPED_TRACE(jump);
    MemorySource source("mpeg");
    source.add_stream(AVMEDIA_TYPE_AUDIO, {1, 1000});
    SourceClock clock(source.input());
    const auto audio = [&](std::int64_t time) { return shifted(clock, source, time, false, 1); };
    shifted(clock, source, 4000);
    audio(4000);
    EXPECT_EQ(shifted(clock, source, 4040 + jump), 4040);
    EXPECT_EQ(audio(4040), 4040) << "of the part before";
    EXPECT_EQ(audio(4080 + jump), 4080);
    EXPECT_EQ(shifted(clock, source, 4080 + jump), 4080);
    EXPECT_EQ(clock.offset(), -jump * 1000);
  }
}

TEST(SourceClockTest, OneLatePacketIsNoJumpBack) {
  const MemorySource source("mpegts");
  SourceClock clock(source.input());
  EXPECT_EQ(shifted(clock, source, 0), 0);
  EXPECT_EQ(shifted(clock, source, 2040), 2040) << "for FrameTimes";
  EXPECT_EQ(shifted(clock, source, 80), 80);
  EXPECT_EQ(shifted(clock, source, 120), 120);
  EXPECT_EQ(clock.first_jump(), TimeRange::kOpen);
}

TEST(SourceClockTest, ASmallStepBackBehindASeekIsNoJump) {
  const MemorySource source("mpegts");
  SourceClock clock(source.input());
  EXPECT_EQ(shifted(clock, source, 12'000, true), 12'000);
  EXPECT_EQ(shifted(clock, source, 11'000, true), 11'000);
  EXPECT_EQ(shifted(clock, source, 500, true), 11'040) << "more than 10 s";
}

TEST(SourceClockTest, DevicesBeginWithTheirFirstPacket) {
  const MemorySource source("lavfi");
  source.input().start_time = 3 * AV_TIME_BASE;
  SourceClock clock(source.input());
  EXPECT_EQ(shifted(clock, source, 1'700'000'000'000), 0);
  EXPECT_EQ(shifted(clock, source, 1'700'000'000'040), 40);
}

}  // namespace

}  // namespace limpid::io
