// SPDX-License-Identifier: MIT
// The packets that are read and the frames that are delivered.
// The search for the key frame at which decoding begins.

#include "io/media/reader/range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

constexpr std::int64_t kSecond = AV_TIME_BASE;

/// A source of two streams, video and audio.
class SourceRangeTest : public ::testing::Test {
 protected:
  SourceRangeTest() : sound(source.add_stream(AVMEDIA_TYPE_AUDIO, {1, 1000})) {}

  Range range(const ReaderOptions& options, std::int64_t begin = 0) const {
    return Range(options, begin, source.input(), source.video());
  }
  bool takes(Range& range, std::int64_t time) const { return range.take(*packet_at(time), source.video()); }
  bool takes_sound(Range& range, std::int64_t time) const {
    const PacketHandle packet = packet_at(time);
    packet->stream_index = sound.index;
    return range.take(*packet, sound);
  }
  static Range::Place place(Range& range, std::int64_t time) {
    const FrameHandle frame = make_frame();
    frame->pts = time;
    return range.place(*frame);
  }

  MemorySource source;
  AVStream& sound;
};

TEST_F(SourceRangeTest, EverythingIsReadWithoutARange) {
  Range all = range({.context_before = 3, .context_after = 3});
  for (const std::int64_t time : {-1000, 0, 100'000}) {
    EXPECT_TRUE(takes(all, time));
    EXPECT_TRUE(takes_sound(all, time));
    EXPECT_TRUE(all.contains(*packet_at(time)));
    EXPECT_TRUE(all.is_shown(*packet_at(time)));
    EXPECT_EQ(place(all, time), Range::Place::kInside);
  }
  EXPECT_EQ(all.context().wanted(), 0);
  EXPECT_FALSE(all.take_behind());
  EXPECT_EQ(all.skipped_frames({25, 1}), 0);
}

TEST_F(SourceRangeTest, TheVideoIsDecodedBeforeTheRangeAndEndsWithIt) {
  // From 2 s to 3 s of a source that begins at 1 s: in the frames' times, from zero to 1 s.
  Range part = range({.start = 2, .end = 3}, kSecond);
  EXPECT_EQ(part.times().shift, 3 * kSecond);
  EXPECT_EQ(part.target(), 3 * kSecond);
  EXPECT_TRUE(takes(part, -500));
  EXPECT_FALSE(takes_sound(part, -500));
  EXPECT_FALSE(part.contains(*packet_at(-500)));
  EXPECT_TRUE(takes(part, 960));
  EXPECT_TRUE(takes_sound(part, 960));
  EXPECT_TRUE(takes(part, 30'000)) << "one wrong time";
  EXPECT_TRUE(takes(part, 980));
  EXPECT_TRUE(takes(part, 1000));
  EXPECT_FALSE(part.has_video_ended());
  EXPECT_FALSE(takes(part, 1040));
  EXPECT_TRUE(part.has_video_ended());
  EXPECT_FALSE(part.is_past_end(1)) << "its sound may lie behind in the file";
  EXPECT_FALSE(takes_sound(part, 1000));
  EXPECT_TRUE(part.is_past_end(1));
  EXPECT_EQ(place(part, -40), Range::Place::kBefore);
  EXPECT_EQ(place(part, 0), Range::Place::kInside);
  EXPECT_EQ(place(part, 1000), Range::Place::kBehind);
  EXPECT_EQ(part.skipped_frames({25, 1}), 50);
}

TEST_F(SourceRangeTest, SoundThatEndedEarlyIsNotWaitedFor) {
  Range part = range({.end = 1});
  takes(part, 1000);
  EXPECT_FALSE(part.is_past_end(1));
  takes(part, 11'040);
  EXPECT_TRUE(part.is_past_end(1));
}

TEST_F(SourceRangeTest, FramesBehindTheRangeAreContextUpToTheirNumber) {
  Range part = range({.end = 1, .context_after = 2});
  EXPECT_TRUE(takes(part, 1000)) << "the decoder needs it";
  EXPECT_TRUE(part.take_behind());
  EXPECT_TRUE(part.take_behind());
  EXPECT_FALSE(part.take_behind());
  part.end_video();
  EXPECT_FALSE(takes(part, 1040));
  part.forget_position();
  EXPECT_TRUE(takes(part, 1040));
  EXPECT_TRUE(part.take_behind());
}

TEST_F(SourceRangeTest, OnlyFramesThatAreDeliveredAreShown) {
  Range part = range({.start = 2});
  EXPECT_FALSE(part.is_shown(*packet_at(-1000)));
  EXPECT_TRUE(part.is_shown(*packet_at(-90))) << "its time may be corrected";
  EXPECT_TRUE(part.is_shown(*packet_at(0)));
  EXPECT_TRUE(part.is_shown(*packet_at(-1000))) << "times that step back are corrected later";
  part.forget_position();
  EXPECT_FALSE(part.is_shown(*packet_at(-1000)));
  EXPECT_TRUE(part.is_shown(*packet_at(AV_NOPTS_VALUE)));

  Range with_context = range({.start = 2, .context_before = 1});
  EXPECT_TRUE(with_context.is_shown(*packet_at(-1000)));
}

TEST_F(SourceRangeTest, TheSearchForAKeyFrameEndsInOnePhase) {
  Range part = range({.start = 2});
  part.begin_gathering(part.before_target(500'000));
  EXPECT_TRUE(part.is_gathering());
  part.gather(packet_at(-600, AV_PKT_FLAG_KEY));
  EXPECT_TRUE(part.is_gathering());
  part.gather(packet_at(-480));
  EXPECT_FALSE(part.is_gathering());
  EXPECT_TRUE(part.end_gathering());
  EXPECT_FALSE(part.begun_in_time());
  place(part, -560);
  EXPECT_TRUE(part.begun_in_time());
  EXPECT_EQ(part.take_gathered()->pts, -600);
  EXPECT_EQ(part.take_gathered()->pts, -480);
  EXPECT_EQ(part.take_gathered(), nullptr);

  part.forget_position();
  part.begin_gathering(part.before_target(0));
  EXPECT_FALSE(part.end_gathering()) << "nothing came";
  place(part, 40);
  EXPECT_FALSE(part.begun_in_time());
}

TEST_F(SourceRangeTest, TheEndOfTheRangeEndsTheSearchForAKeyFrame) {
  Range part = range({.start = 2, .end = 3});
  part.begin_gathering(part.before_target(0));
  EXPECT_TRUE(takes(part, 1000));
  EXPECT_FALSE(takes(part, 1040));
  EXPECT_FALSE(part.is_gathering());
  EXPECT_FALSE(part.end_gathering());
  EXPECT_TRUE(part.has_video_ended());
}

TEST_F(SourceRangeTest, ASeekSetsTheTargetAndKeepsTheZero) {
  Range part = range({.start = 2});
  part.set_target(5, 0.5);
  EXPECT_EQ(part.target(), 7 * kSecond);
  EXPECT_EQ(part.times().shift, 2 * kSecond);
  EXPECT_EQ(place(part, 4400), Range::Place::kBefore);
  EXPECT_EQ(place(part, 4500), Range::Place::kInside);
}

TEST_F(SourceRangeTest, TheLengthOfTheRangeIsDescribed) {
  const auto described = [&](const ReaderOptions& options, double duration, std::int64_t begin = 0) {
    VideoProperties video{.frames_per_second = 25, .frame_count = 7, .duration = duration};
    range(options, begin).describe(video);
    return video;
  };
  EXPECT_EQ(described({}, 10).frame_count, 7) << "as the source says";
  EXPECT_EQ(described({.start = 4}, 10).duration, 6);
  EXPECT_EQ(described({.start = 4}, 10).frame_count, 150);
  EXPECT_EQ(described({.start = 4}, 3).duration, 0);
  EXPECT_EQ(described({.start = 4, .end = 5}, 10).frame_count, 25);
  EXPECT_EQ(described({.start = 4}, 10, 3 * kSecond).duration, 6) << "of a source that begins at 3 s";
  EXPECT_EQ(described({.end = 5}, 0).duration, 5) << "of a source that doesn't tell its own";
}

TEST_F(SourceRangeTest, ARangeWithoutAFrameIsAnError) {
  const auto sentence = [&](const ReaderOptions& options) -> std::string {
    try {
      range(options).throw_no_frame("a.mkv", -kSecond, 8 * kSecond);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(sentence({.start = 9.5}), "a.mkv: has no frame from 9.5 s on; it is 8.5 s long");
  EXPECT_EQ(sentence({.start = 3, .end = 3}), "a.mkv: has no frame from 3 s to 3 s; it is 8 s long");
}

TEST(ContextFramesTest, TheLastFramesComeBeforeTheOneThatIsHeld) {
  ContextFrames context(2);
  for (const std::int64_t time : {1, 2, 3}) {
    FrameHandle frame = make_frame();
    frame->pts = time;
    context.keep(std::move(frame));
  }
  EXPECT_EQ(context.take(), nullptr) << "the first of the range has to be there";
  Frame first;
  first.index = 17;
  context.hold(std::move(first));
  EXPECT_FALSE(context.take_held().has_value());
  EXPECT_EQ(context.take()->pts, 2);
  EXPECT_TRUE(context.are_complete());
  EXPECT_EQ(context.count(), 1);
  EXPECT_EQ(context.take()->pts, 3);
  EXPECT_EQ(context.take(), nullptr);
  EXPECT_EQ(context.take_held().value().index, 17);
  EXPECT_FALSE(context.take_held().has_value());
}

TEST(ContextFramesTest, FramesMayBeMissing) {
  ContextFrames context(2);
  context.keep(make_frame());
  context.hold(Frame());
  EXPECT_NE(context.take(), nullptr);
  EXPECT_FALSE(context.are_complete());
  context.clear();
  EXPECT_FALSE(context.take_held().has_value());
  EXPECT_TRUE(ContextFrames(0).are_complete());
}

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
