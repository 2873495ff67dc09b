// SPDX-License-Identifier: MIT
// Frames that are missing in the middle are detected; intended pauses are not reported.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/media/diagnostic.h"
#include "io/media/reader/health.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

constexpr AVRational kMilliseconds{1, 1000};
constexpr std::int64_t kFrame = 40;

/// Packets at these distances, and the missing frames among them.
FrameGaps::Missing missing_of(const std::vector<std::int64_t>& steps, std::size_t damaged_at = 0,
                              std::int64_t duration = kFrame) {
  FrameGaps gaps;
  const PacketHandle packet = make_packet();
  packet->dts = 0;
  packet->duration = duration;
  gaps.add(*packet, kMilliseconds, false, true);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    packet->dts += steps[i];
    gaps.add(*packet, kMilliseconds, damaged_at == i && damaged_at > 0, true);
  }
  return gaps.missing(true);
}

/// A regular stream with these steps in its middle.
std::vector<std::int64_t> steady_around(const std::vector<std::int64_t>& middle, std::size_t each_side = 30) {
  std::vector<std::int64_t> steps(each_side, kFrame);
  steps.insert(steps.end(), middle.begin(), middle.end());
  steps.insert(steps.end(), each_side, kFrame);
  return steps;
}

TEST(FrameGapsTest, AGapInASteadyStreamIsMissingFrames) {
  const FrameGaps::Missing missing = missing_of(steady_around({5 * kFrame}));
  EXPECT_EQ(missing.frames, 4);
  EXPECT_EQ(missing.places, 1);
  EXPECT_EQ(text_of(missing), "4 frames are missing between 1.24 s and 1.40 s");
}

TEST(FrameGapsTest, AnErrorOfTheDemuxerMakesAnyGapMissingFrames) {
  EXPECT_EQ(text_of(missing_of(steady_around({2 * kFrame}), 30)),
            "1 frame is missing between 1.24 s and 1.28 s");
  const auto twice = steady_around({9 * kFrame, kFrame, 9 * kFrame});
  EXPECT_EQ(missing_of(twice, 30).frames, 16) << "one with an error and one without";
  EXPECT_EQ(missing_of(twice).frames, 0) << "several without an error are pauses";
}

TEST(FrameGapsTest, VariableRatesHaveNoGaps) {
  EXPECT_EQ(missing_of(steady_around({})).frames, 0);
  EXPECT_EQ(missing_of(steady_around({2 * kFrame, kFrame, 2 * kFrame})).frames, 0) << "dropped frames";
  EXPECT_EQ(missing_of(steady_around({2 * kFrame, 9 * kFrame})).frames, 0) << "a variable rate";
  EXPECT_EQ(missing_of(steady_around({9 * kFrame, 7 * kFrame, 500 * kFrame})).frames, 0) << "pauses";
  EXPECT_EQ(missing_of(std::vector<std::int64_t>(50, 3000)).frames, 0) << "a slide show";
  EXPECT_EQ(missing_of(steady_around({33, 50, 33, 50, 33, 50})).frames, 0) << "pulldown";
  EXPECT_EQ(missing_of(steady_around({9 * kFrame}), 0, 0).frames, 0) << "unknown durations";
  EXPECT_EQ(missing_of(steady_around({9 * kFrame}, 5)).frames, 0) << "too short to decide";
}

TEST(FrameGapsTest, GapsNeedRegularFramesAroundThem) {
  EXPECT_EQ(missing_of(steady_around({5 * kFrame}, 6)).frames, 4) << "in 13 steps";
  for (const std::size_t position : {0, 1, 2, 30, 31, 32}) {
    std::vector<std::int64_t> steps(33, kFrame);
    steps[position] = 8 * kFrame;
    EXPECT_EQ(missing_of(steps).frames, 0) << "a late start or a last frame that is repeated, " << position;
    steps[16] = 8 * kFrame;
    EXPECT_EQ(missing_of(steps).frames, 0) << "and a pause, " << position;
  }
}

/// Steps of a camera with jitter, in a millisecond's grid, of which every `drop`-th frame is missing.
std::vector<std::int64_t> webcam(std::size_t frames, unsigned seed, int drop) {
  std::vector<std::int64_t> steps;
  std::int64_t late = 0;
  for (std::size_t i = 1; i < frames; ++i) {
    seed = seed * 1664525 + 1013904223;
    const std::int64_t now = static_cast<std::int64_t>(seed >> 16) % 15;  // late by up to 15 ms
    const std::int64_t step = (i % static_cast<std::size_t>(drop) == 0 ? 2 : 1) * kFrame;
    steps.push_back(step + now - std::exchange(late, now));
  }
  return steps;
}

TEST(FrameGapsTest, HealthyRecordingsOfVariableRatesHaveNoGaps) {
  for (const std::size_t frames : {14, 20, 60, 400}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      EXPECT_EQ(missing_of(webcam(frames, seed, 7)).frames, 0) << frames << " frames, seed " << seed;
      EXPECT_EQ(missing_of(webcam(frames, seed, 1000)).frames, 0) << frames << " frames, seed " << seed;
    }
    std::vector<std::int64_t> cadence;
    std::vector<std::int64_t> screen;
    for (std::size_t i = 0; i < frames; ++i) {
      cadence.push_back(i % 2 == 0 ? 33 : 50);
      screen.push_back(i % 11 == 3 ? 40 * kFrame : i % 11 == 7 ? 3 * kFrame : kFrame);
    }
    for (const std::int64_t duration : {33, 42, 50}) {
      EXPECT_EQ(missing_of(cadence, 0, duration).frames, 0) << "2:3 pulldown, " << frames << " frames";
    }
    EXPECT_EQ(missing_of(screen).frames, 0) << "dropped duplicates, " << frames << " frames";
  }
}

TEST(FrameGapsTest, UncountedFramesAndSeeksAreNoGaps) {
  FrameGaps gaps;
  const PacketHandle packet = make_packet();
  packet->duration = kFrame;
  packet->dts = 0;
  for (int i = 0; i < 100; ++i) {
    packet->dts += kFrame;
    gaps.add(*packet, kMilliseconds, false, true);
  }
  gaps.forget_position();
  packet->dts += 50 * kFrame;
  gaps.add(*packet, kMilliseconds, true, true);
  packet->dts += 50 * kFrame;
  gaps.add(*packet, kMilliseconds, true, false);
  EXPECT_EQ(gaps.missing(true).frames, 0);
}

class MissingFramesTest : public MediaTest {
 protected:
  struct Read {
    std::int64_t frames = 0;
    Diagnostics diagnostics;
  };
  static Read read(const std::string& file, const ReaderOptions& options = {}) {
    Reader reader(file, options);
    Read result;
    for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item);
         item = reader.read()) {
      result.frames += std::holds_alternative<Frame>(item) ? 1 : 0;
    }
    result.diagnostics = reader.diagnostics();
    return result;
  }
  static std::string all_texts(const Read& result) { return joined(texts_of(result.diagnostics)); }

  /// Overwrites a part of a file with zeros.
  static void zero(const std::string& file, double begin, double share) {
    const auto size = static_cast<double>(std::filesystem::file_size(file));
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(size * begin));
    stream << std::string(static_cast<std::size_t>(size * share), '\0');
  }
};

TEST_F(MissingFramesTest, AHoleInAFileOfIntraFramesIsTold) {
  for (const std::string codec : {"ffv1 -g 1", "mjpeg", "prores", "rawvideo"}) {
    const std::string file =
        make("hole.mkv", "-f lavfi -i testsrc2=s=160x120:r=25:d=3 -vf noise=alls=20 -c:v " + codec);
    EXPECT_EQ(all_texts(read(file)), "") << codec;
    zero(file, 0.4, 0.25);
    const Read result = read(file);
    EXPECT_LT(result.frames, 60) << codec;
    const std::int64_t missing = count_of(result.diagnostics, Diagnostic::Kind::kMissingFrames);
    const std::int64_t damaged = count_of(result.diagnostics, Diagnostic::Kind::kDamagedPackets);
    EXPECT_EQ(result.frames + missing + damaged, 75) << codec << all_texts(result);
    EXPECT_EQ(count_of(result.diagnostics, Diagnostic::Kind::kContainerErrors), 1) << codec;
    EXPECT_EQ(all_texts(read(file, {.start = 2.6})), "") << codec << ": the hole is before the range";
    std::filesystem::remove(file);
  }
}

TEST_F(MissingFramesTest, AHoleBesideSoundIsTold) {
  const std::string file = make("sound.mkv",
                                "-f lavfi -i testsrc2=s=160x120:r=30000/1001:d=3 -f lavfi -i sine=d=3 "
                                "-c:v ffv1 -g 1 -c:a pcm_s16le");
  EXPECT_EQ(all_texts(read(file)), "");
  zero(file, 0.3, 0.3);
  const Read result = read(file);
  const std::int64_t missing = count_of(result.diagnostics, Diagnostic::Kind::kMissingFrames);
  EXPECT_LE(std::abs(result.frames + missing - 90), 1) << all_texts(result);
}

TEST_F(MissingFramesTest, FilesThatAreAsTheyWereMeantAreNot) {
  const std::string from = "-f lavfi -i testsrc2=s=64x48:r=25:d=4 -fps_mode vfr ";
  const std::string moving = "-c:v ffv1 -vf ";
  for (const auto& [name, arguments] : std::vector<std::pair<std::string, std::string>>{
           {"pauses.mkv", moving + "\"select='not(between(t,1,1.8)+between(t,2,3.5))'\""},
           {"drops.mkv", moving + "\"select='mod(n,7)'\""},
           {"random.mkv", moving + "\"select='gt(random(1),0.5)'\""},
           {"pauses.webm", "-c:v libvpx -vf \"select='not(between(t,1,1.8)+between(t,2,3.5))'\""},
           {"pause.mp4", "-c:v mpeg4 -vf \"select='not(between(t,1,3))'\""},
           {"pauses.avi", "-c:v mpeg4 -vf \"select='not(between(t,1,1.8)+between(t,2,3.5))'\""},
           {"slides.mkv", moving + "\"setpts=N*3/TB\" -frames:v 10"},
           {"pulldown.mkv", moving + "telecine"},
           {"cadence.mkv", moving + "fps=24,fps=60,mpdecimate=hi=1:lo=1:frac=1"},
           {"late_start.mkv", moving + "\"setpts=PTS+gt(N\\,1)*0.5/TB\""},
           {"screen.mkv", moving + "\"select='not(mod(n,4))+lt(mod(t,1),0.3)'\""},
           {"webcam.mkv", moving + "\"setpts=PTS+random(0)*0.015/TB,select='mod(n,13)'\""},
           {"frames_of_b.mkv", "-c:v mpeg4 -bf 2"},
           {"rounded.mkv", moving + "fps=30000/1001"},
           {"transport.ts", "-c:v mpeg2video -vf \"select='not(between(t,1,3))'\""},
           {"flash.flv", "-c:v flv -vf \"select='not(between(t,1,1.8)+between(t,2,3.5))'\""}}) {
    EXPECT_EQ(all_texts(read(make(name, from + arguments))), "") << name;
  }
}

}  // namespace
}  // namespace limpid::io
