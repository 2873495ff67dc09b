// SPDX-License-Identifier: MIT
// Reader::seek: the frames from a time on, repeatedly, for any positions of key frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

struct SeekSource {
  std::string name;
  std::string arguments;
};

using SeekInterruptionTest = MediaTest;

class SeekTest : public MediaTest, public ::testing::WithParamInterface<SeekSource> {};

TEST_P(SeekTest, ContinuesWithTheFrameOfThatTime) {
  const std::string file =
      make(GetParam().name, "-f lavfi -i testsrc2=s=64x48:r=24:d=4 " + GetParam().arguments);
  const Clip whole = read_clip(file);
  Reader reader(file);
  for (const double time : {3.0, 0.5, 2.51, 0.0, 2.49, 99.0, 1.0}) {
    reader.seek(time);
    auto expected = static_cast<std::size_t>(
        std::find_if(whole.times.begin(), whole.times.end(), [&](double t) { return t >= time - 0.0005; }) -
        whole.times.begin());
    for (int i = 0; i < 3; ++i, ++expected) {
      const Reader::Item item = reader.read();
      if (expected >= whole.frames.size()) {
        EXPECT_TRUE(std::holds_alternative<Reader::End>(item)) << time;
        break;
      }
      ASSERT_TRUE(std::holds_alternative<Frame>(item)) << time;
      const Frame& frame = std::get<Frame>(item);
      EXPECT_NEAR(presentation_time(frame).value_or(-1), whole.times[expected], 1e-6) << time;
      EXPECT_EQ(frame.index, whole.frames[expected].index) << time;
      expect_same_frames({whole.frames[expected]}, {frame});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sources, SeekTest,
    ::testing::Values(SeekSource{"h264.mkv", "-c:v libx264 -bf 3 -g 60"},
                      SeekSource{"h265.mkv", "-c:v libx265 -x265-params bframes=4:keyint=60:log-level=none"},
                      SeekSource{"mpeg2.ts", "-c:v mpeg2video -bf 2 -g 30 -output_ts_offset 1000"},
                      SeekSource{"plain.y4m", "-pix_fmt yuv420p"},
                      SeekSource{"raw.264", "-c:v libx264 -bf 2 -g 24"}),
    [](const auto& test) { return test.param.name.substr(0, test.param.name.find('.')); });

/// A hundred seconds of tiny frames with a key frame every `kGroup`.
class LongSeekTest : public MediaTest, public ::testing::WithParamInterface<SeekSource> {
 protected:
  static constexpr int kGroup = 40;

  std::string long_clip() const {
    return make(GetParam().name,
                "-f lavfi -i testsrc2=s=32x24:r=25:d=100 -c:v libx264 -preset ultrafast -bf 2 "
                "-g 40 -keyint_min 40 -sc_threshold 0 " +
                    GetParam().arguments);
  }
};

TEST_P(LongSeekTest, DecodesNoMoreThanAGroupOfPicturesAndAHalf) {
  const std::string file = long_clip();
  ReaderOptions options;
  options.decoder_threads = 1;
  const Clip whole = read_clip(file, options);
  ASSERT_GT(whole.frames.size(), 1000U);
  Reader reader(file, options);
  for (const double time : {75.0, 3.3, 95.02, 93.7, 49.99, 50.0, 1.6, 60.8}) {
    for (const double before : {0.0, 1.0}) {
      const std::int64_t decoded = reader.decoded_packets();
      const double from = whole.times.front();
      reader.seek(from + time, before);
      const auto frame = std::get<Frame>(reader.read());
      const double shown = presentation_time(frame).value();
      EXPECT_LE(reader.decoded_packets() - decoded, kGroup * 3 / 2) << time << ", " << before;
      EXPECT_GE(shown, from + time - before - 0.0006) << time;
      const auto same = std::find_if(whole.times.begin(), whole.times.end(),
                                     [&](double other) { return std::abs(other - shown) < 1e-6; });
      ASSERT_NE(same, whole.times.end()) << shown;
      expect_same_frames({whole.frames[static_cast<std::size_t>(same - whole.times.begin())]}, {frame});
      if (before == 0) {
        const auto first = std::find_if(whole.times.begin(), whole.times.end(),
                                        [&](double other) { return other >= from + time - 0.0006; });
        EXPECT_EQ(shown, *first) << time;
      }
    }
  }
  EXPECT_EQ(count_of(reader.diagnostics(), Diagnostic::Kind::kDamagedPackets), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Sources, LongSeekTest,
    ::testing::Values(SeekSource{"index.mp4", ""}, SeekSource{"offset.mp4", "-output_ts_offset -3"},
                      SeekSource{"fragments.mp4", "-movflags +frag_keyframe+empty_moov"},
                      SeekSource{"cues.mkv", ""}, SeekSource{"late.mkv", "-output_ts_offset 7"},
                      SeekSource{"live.mkv", "-f matroska -live 1"},
                      SeekSource{"open.mp4", "-x264opts open-gop=1"},
                      SeekSource{"open.ts", "-x264opts open-gop=1 -output_ts_offset 1000"},
                      SeekSource{"variable.mp4", "-vf select='lt(mod(n\\,100)\\,60)' -fps_mode vfr"},
                      SeekSource{"plain.ts", ""},
                      SeekSource{
                          "stream.mpg",
                          "-c:v mpeg2video -b:v 1M -minrate 1M -maxrate 1M -bufsize 500k -vf scale=176:144"},
                      SeekSource{"plain.avi", "-c:v mpeg4"}, SeekSource{"plain.flv", ""}),
    [](const auto& test) {
      std::string name = test.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST_F(SeekInterruptionTest, ASeekIsGivenUpAtOnceAndTheNextOneFindsItsFrame) {
  const std::string file = make("long.mkv", "-f lavfi -i testsrc2=s=32x24:r=25:d=40 -c:v libx264 -g 1000");
  ReaderOptions options;
  options.decoder_threads = 1;
  Reader reader(file, options);
  const std::int64_t decoded = reader.decoded_packets();
  reader.seek(30, 0, [&] { return reader.decoded_packets() - decoded >= 10; });
  EXPECT_LE(reader.decoded_packets() - decoded, 11);
  reader.seek(2);
  EXPECT_NEAR(presentation_time(std::get<Frame>(reader.read())).value(), 2, 1e-6);
  reader.seek(30, 0, [] { return true; });
  reader.seek(1);
  EXPECT_NEAR(presentation_time(std::get<Frame>(reader.read())).value(), 1, 1e-6);
  EXPECT_EQ(count_of(reader.diagnostics(), Diagnostic::Kind::kDamagedPackets), 0);
}

TEST_F(SeekInterruptionTest, SeeksSkipFramesThatAreNotShown) {
  constexpr int kGroup = 120;
  const std::string file =
      make("long.mkv",
           "-f lavfi -i testsrc2=s=32x24:r=25:d=10 -c:v libx264 -preset ultrafast -bf 2 "
           "-b_strategy 0 -x264opts b-pyramid=none -g 120 -keyint_min 120 -sc_threshold 0");
  ReaderOptions options;
  options.decoder_threads = 1;
  Reader reader(file, options);
  const std::int64_t before_it = reader.decoded_frames();
  const std::int64_t target = 2 * kGroup - 5;
  reader.seek(static_cast<double>(target) / 25);
  EXPECT_EQ(std::get<Frame>(reader.read()).index, target);
  EXPECT_LE(reader.decoded_frames() - before_it, kGroup / 2);
  for (std::int64_t index = target + 1; index < 2 * kGroup; ++index) {
    EXPECT_EQ(std::get<Frame>(reader.read()).index, index) << "none of those that are seen";
  }
}

TEST_F(SeekInterruptionTest, TheKeyFrameIsShownMeanwhile) {
  const std::string file =
      make("glimpse.mkv",
           "-f lavfi -i testsrc2=s=64x48:r=25:d=8 -c:v libx264 -bf 2 -g 50 -keyint_min 50 -sc_threshold 0");
  const Clip whole = read_clip(file);
  Reader reader(file);
  std::vector<Frame> glimpses;
  const auto keep = [&](Frame frame) { glimpses.push_back(std::move(frame)); };
  reader.seek(3.6, 0.2, {}, keep);
  ASSERT_EQ(glimpses.size(), 1U);
  EXPECT_NEAR(presentation_time(glimpses[0]).value_or(-1), 2, 1e-6);
  expect_same_frames({whole.frames[50]}, glimpses);
  const Frame frame = std::get<Frame>(reader.read());
  EXPECT_EQ(frame.index, 85);
  expect_same_frames({whole.frames[85]}, {frame});
  glimpses.clear();
  reader.seek(4, 0, {}, keep);
  EXPECT_TRUE(glimpses.empty()) << "the target is the key frame";
}

// As in a recording that was appended to another one.
TEST_F(SeekInterruptionTest, FramesWhoseTimesStepBackBehindTheTargetAreSeen) {
  const std::string once =
      make("once.mkv", "-f lavfi -i testsrc2=s=32x24:r=25:d=4 -c:v libx264 -preset ultrafast -bf 2 -g 25");
  const std::string twice = path("twice.mkv");
  std::ofstream(twice, std::ios::binary) << bytes_of(once) << bytes_of(once);
  Reader reader(twice);
  reader.seek(3);
  int frames = 0;
  while (std::holds_alternative<Frame>(reader.read())) {
    ++frames;
  }
  EXPECT_EQ(frames, 25 + 100);
}

// As after Ctrl-C, or when the window is closed: the packet being read may be truncated.
TEST_F(SeekInterruptionTest, AnInterruptedSourceHasNoDamage) {
  const std::string file = make("long.ts", "-f lavfi -i testsrc2=s=320x240:r=25:d=4 -c:v mpeg2video");
  int asked = 0;
  int most = std::numeric_limits<int>::max();
  ReaderOptions options;
  options.interrupted = [&] { return ++asked > most; };
  for (int more = 0; more < 12; ++more) {
    most = std::numeric_limits<int>::max();
    Reader reader(file, options);
    most = asked + more;
    reader.seek(3.5);
    while (std::holds_alternative<Frame>(reader.read())) {
    }
    EXPECT_EQ(joined(texts_of(reader.diagnostics())), "") << more;
  }
}

}  // namespace
}  // namespace limpid::io
