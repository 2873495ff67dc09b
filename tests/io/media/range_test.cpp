// SPDX-License-Identifier: MIT
// ReaderOptions::start and end: exactly the frames and packets of a range, for any positions of key frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

struct RangeSource {
  std::string name;
  std::string arguments;
  double tolerance = 0.0011;  ///< of times; containers that count frames shift times by whole frames
};

std::ostream& operator<<(std::ostream& stream, const RangeSource& source) { return stream << source.name; }

class RangeTest : public MediaTest, public ::testing::WithParamInterface<RangeSource> {};

constexpr double kSourceLength = 6;
constexpr double kHalfAFrame = 0.0211;

double start_time(const std::string& file) {
  const std::string text =
      output_of("ffprobe -v error -show_entries format=start_time -of default=nw=1:nk=1 '" + file + "'");
  return text.starts_with("N/A") ? 0 : std::stod(text);
}

std::string picture(const std::string& filter = "") {
  return "-f lavfi -i testsrc2=s=64x48:r=24:d=6" + filter + " -f lavfi -i sine=d=6 ";
}

const std::vector<RangeSource> kSources{
    {"h264.mkv", picture() + "-c:v libx264 -bf 3 -g 60 -c:a aac"},
    {"open_gop.mp4", picture() + "-c:v libx264 -bf 3 -g 40 -x264-params open-gop=1 -c:a aac"},
    {"mpeg2.ts", picture() + "-c:v mpeg2video -bf 2 -g 30 -c:a mp2 -output_ts_offset 1000"},
    {"h264.ts", picture() + "-c:v libx264 -bf 3 -g 48 -c:a aac"},
    {"mpeg4.avi", picture() + "-c:v mpeg4 -bf 2 -g 50 -c:a mp3", kHalfAFrame},
    {"vp8.webm", picture() + "-c:v libvpx -g 100 -c:a libvorbis"},
    {"varying.mkv",
     picture(",select='not(eq(mod(n\\,5)\\,2))'").insert(0, "-vsync vfr ") + "-c:v libx264 -g 70"},
    {"late.mp4", "-itsoffset 2 " + picture() + "-c:v libx264 -c:a aac"},
    {"raw.h264", picture() + "-map 0 -c:v libx264 -bf 0 -g 50", kHalfAFrame},
    {"plain.y4m", picture() + "-map 0", kHalfAFrame},
    {"picture_%03d.png", picture() + "-map 0 -frames:v 50", kHalfAFrame},
};

using RangeOfDataTest = MediaTest;

// From x264's build 142, which coded 4:4:4 in its own way and identifies itself in the first frame only.
TEST_F(RangeOfDataTest, PropertiesOfTheFirstPacketApplyToARange) {
  const std::string source = data_file("odd/cockatoo_yuv444p.mp4");
  if (source.empty()) {
    GTEST_SKIP() << "no data";
  }
  constexpr std::size_t kFromFrame = 110;  // the last key frame before it is number 76
  const Clip whole = read_clip(source);
  ASSERT_GT(whole.frames.size(), kFromFrame + 30);
  ReaderOptions options;
  options.start = whole.times[kFromFrame];
  options.audio = false;
  Reader reader(source, options);
  for (std::size_t i = kFromFrame; i < kFromFrame + 30; ++i) {
    expect_same_frames({whole.frames[i]}, {std::get<Frame>(reader.read())});
  }
  EXPECT_EQ(joined(texts_of(reader.diagnostics())), "");
  EXPECT_LT(reader.decoded_packets(), 80) << "it goes there";
}

TEST_P(RangeTest, DeliversExactlyItsFramesFromZeroOn) {
  const std::string arguments = GetParam().arguments;
  const std::string source =
      make(GetParam().name,
           arguments.starts_with("-vsync vfr ") ? arguments.substr(11) + " -vsync vfr" : arguments);
  const Clip whole = read_clip(source);
  // The Reader delivers MPEG streams with times from zero.
  const double begin = source.ends_with(".ts") ? 0 : start_time(source);
  const double tolerance = GetParam().tolerance;
  struct Range {
    double start;
    double end;
  };
  for (const auto& [start, end] : std::vector<Range>{
           {0, 0.5}, {0.3, 1.1}, {1.5, 1.75}, {1.99, 2.01}, {2.9, 4.6}, {5.2, kSourceLength}}) {
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < whole.times.size(); ++i) {
      if (whole.times[i] >= begin + start - 0.0005 && whole.times[i] < begin + end - 0.0005) {
        expected.push_back(i);
      }
    }
    if (expected.empty()) {
      continue;
    }
    const Clip part = read_clip(source, {.start = start, .end = end});
    ASSERT_EQ(part.times.size(), expected.size()) << start;
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(part.times[i], whole.times[expected[i]] - start - begin, tolerance)
          << start << ", frame " << i;
      frames.push_back(whole.frames[expected[i]]);
    }
    expect_same_frames(frames, part.frames);

    constexpr int kBefore = 9;
    constexpr int kAfter = 5;
    const Clip with_context =
        read_clip(source, {.start = start, .end = end, .context_before = kBefore, .context_after = kAfter});
    const std::int64_t before = std::min<std::int64_t>(kBefore, expected.front());
    const std::int64_t after = std::min<std::int64_t>(kAfter, whole.frames.size() - 1 - expected.back());
    frames.clear();
    for (std::int64_t i = -before; i < std::ssize(expected) + after; ++i) {
      frames.push_back(whole.frames[expected.front() + i]);
    }
    ASSERT_EQ(with_context.frames.size(), frames.size()) << start;
    expect_same_frames(frames, with_context.frames);
    for (std::int64_t i = 0; i < std::ssize(frames); ++i) {
      const Frame& frame = with_context.frames[i];
      EXPECT_EQ(frame.index, i - before) << start;
      EXPECT_EQ(frame.context_only, frame.index < 0 || frame.index >= std::ssize(expected)) << start;
    }
    EXPECT_EQ(with_context.packets, part.packets) << "of other streams";
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, RangeTest, ::testing::ValuesIn(kSources), [](const auto& test) {
  std::string name = test.param.name.substr(0, test.param.name.find('%'));
  for (char& letter : name) {
    letter = letter == '.' ? '_' : letter;
  }
  return name;
});

using RangeOfStreamsTest = MediaTest;

/// First and last presentation time of the packets of a stream, in seconds.
std::vector<double> packet_times(const std::string& file, const std::string& stream) {
  std::istringstream text(output_of("ffprobe -v error -select_streams " + stream +
                                    " -show_entries packet=pts_time -of default=nw=1:nk=1 '" + file + "'"));
  std::vector<double> times;
  for (std::string line; std::getline(text, line);) {
    times.push_back(std::stod(line));
  }
  return times;
}

TEST_F(RangeOfStreamsTest, SoundSubtitlesAndChaptersAreCutToIt) {
  std::ofstream(path("words.srt")) << "1\n00:00:00,100 --> 00:00:00,300\nBefore\n\n"
                                      "2\n00:00:01,000 --> 00:00:02,500\nAcross the start\n\n"
                                      "3\n00:00:03,500 --> 00:00:09,000\nAcross the end\n\n"
                                      "4\n00:00:04,500 --> 00:00:05,000\nAfter\n";
  std::ofstream(path("meta.txt")) << ";FFMETADATA1\n"
                                     "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1500\ntitle=One\n"
                                     "[CHAPTER]\nTIMEBASE=1/1000\nSTART=1500\nEND=3000\ntitle=Two\n"
                                     "[CHAPTER]\nTIMEBASE=1/1000\nSTART=3000\nEND=6000\ntitle=Three\n"
                                     "[CHAPTER]\nTIMEBASE=1/1000\nSTART=6000\nEND=9000\ntitle=Four\n";
  const std::string source = make(
      "source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=6 -f lavfi -i sine=d=6 -i '" + path("words.srt") +
                        "' -i '" + path("meta.txt") +
                        "' -map 0 -map 1 -map 2 -map_chapters 3 -c:v libx264 -g 250 -c:a pcm_s16le -c:s srt");
  for (const std::string target : {"part.mkv", "part.mov"}) {
    SCOPED_TRACE(target);
    // mov cannot store SubRip, which is left out there.
    transcode(source, path(target), {}, {.start = 2, .end = 4});
    const std::vector<double> frames = packet_times(path(target), "v");
    EXPECT_EQ(frames.size(), 50U);
    const std::vector<double> sound = packet_times(path(target), "a");
    ASSERT_FALSE(sound.empty());
    constexpr double kPacket = 0.024;
    EXPECT_GE(sound.front(), 0);
    EXPECT_LT(sound.front(), kPacket);
    EXPECT_LT(sound.back(), 2);
    EXPECT_GT(sound.back(), 2 - kPacket);
    EXPECT_EQ(output_of("ffprobe -v error -show_entries chapter=start_time,end_time:chapter_tags=title -of "
                        "csv=p=0 '" +
                        path(target) + "'"),
              "0.000000,1.000000,Two\n1.000000,2.000000,Three\n");
  }
  EXPECT_EQ(packet_times(path("part.mkv"), "s"), (std::vector<double>{0, 1.5}));
  EXPECT_NE(output_of("ffprobe -v error -select_streams s -show_entries packet=duration_time -of csv '" +
                      path("part.mkv") + "'")
                .find("0.500000\npacket,0.500000"),
            std::string::npos);
}

TEST_F(RangeOfStreamsTest, TimecodeIsThatOfTheFirstFrame) {
  const std::string source =
      make("source.mov", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v mpeg4 -timecode 01:00:00:00");
  transcode(source, path("part.mov"), {}, {.start = 1.2});
  EXPECT_NE(probe_streams(path("part.mov")).find("TAG:timecode=01:00:01:05"), std::string::npos);
}

TEST_F(RangeOfStreamsTest, RangesWithoutAFrameAreErrorsThatTellTheLength) {
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=2 -c:v libx264");
  const auto message = [&](const ReaderOptions& options) -> std::string {
    try {
      read_clip(source, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({.start = 20}), source + ": has no frame from 20 s on; it is 2 s long");
  EXPECT_EQ(message({.start = 1.01, .end = 1.03}),
            source + ": has no frame from 1.01 s to 1.03 s; it is 2 s long");
}

}  // namespace
}  // namespace limpid::io
