// SPDX-License-Identifier: MIT
// The clock of a source: its zero, and removal of jumps.
#include <gtest/gtest.h>

#include "io/media/reader/frame_times.h"
#include "io/media/time_range.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

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
