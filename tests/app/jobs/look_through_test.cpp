// Sources looked through in parts are seen as one reader of the whole sees them.
#include "app/jobs/look_through.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/engines.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

// Whose first look at a frame from a time on fails.
class FailingEngine : public test::ForwardingEngine {
 public:
  explicit FailingEngine(double seconds) : ForwardingEngine("failing", {}), seconds_(seconds) {}
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    if (io::presentation_time(frame).value() >= seconds_ && !failed_.exchange(true)) {
      throw Error("failed");
    }
    return ForwardingEngine::brightness_histogram(frame);
  }

 private:
  double seconds_;
  std::atomic<bool> failed_ = false;
};

struct Seconds {
  double begin = 0;
  double end = 1e9;
  bool has(double time) const { return time >= begin && time < end; }
};

// Whose look at frames of a time takes until another thread has looked at one of another time.
class WaitingEngine : public test::ForwardingEngine {
 public:
  WaitingEngine(Seconds waiting, Seconds awaited)
      : ForwardingEngine("waiting", {}), waiting_(waiting), awaited_(awaited) {}
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    const double time = io::presentation_time(frame).value();
    {
      std::unique_lock lock(mutex_);
      has_come_ = has_come_ || awaited_.has(time);
      changed_.notify_all();
      if (waiting_.has(time)) {
        changed_.wait_for(lock, std::chrono::seconds(60), [this] { return has_come_; });
      }
    }
    return ForwardingEngine::brightness_histogram(frame);
  }

 private:
  Seconds waiting_, awaited_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_come_ = false;
};

class LookThroughTest : public io::MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(told_);
    sink->set_pattern("%v");
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("told", std::move(sink)));
  }
  void TearDown() override { spdlog::set_default_logger(before_); }

  static LookThrough source_of(const std::string& file, int parts, const NoiseSettings& noise = {}) {
    LookThrough source{.path = file, .reader = {}, .noise = noise, .parts = parts};
    source.reader.audio = source.reader.subtitles = source.reader.data = false;
    source.reader.decoder_threads = 1;  // what several make of damage differs from time to time
    return source;
  }

  struct Seen : SeenSource {
    std::string told;
    std::vector<std::string> diagnostics;
  };
  Seen look(const LookThrough& source, const std::shared_ptr<Engine>& engine) {
    told_.str({});
    Seen seen{look_through(source, engine, [](std::int64_t, std::int64_t) { return true; }).value(), {}, {}};
    seen.told = told_.str();
    for (const io::Diagnostic& each : seen.reader->diagnostics()) {
      seen.diagnostics.push_back(std::to_string(static_cast<int>(each.kind)) + each.text +
                                 std::to_string(each.count));
    }
    return seen;
  }
  Seen look(const LookThrough& source) { return look(source, engine_); }

  static void expect_same(const Seen& all, const Seen& whole) {
    EXPECT_EQ(whole.parts, 1U);
    ASSERT_EQ(all.frames.size(), whole.frames.size());
    for (std::size_t i = 0; i < all.frames.size(); ++i) {
      const SeenFrame& one = all.frames[i];
      const SeenFrame& other = whole.frames[i];
      ASSERT_TRUE(one.time == other.time && one.hash == other.hash && one.level == other.level &&
                  one.is_result == other.is_result && one.begins_scene == other.begins_scene)
          << "frame " << i;
    }
    EXPECT_TRUE(all.levels == whole.levels);
    EXPECT_EQ(all.told, whole.told);
    EXPECT_EQ(all.diagnostics, whole.diagnostics);
  }

  // Of how many parts it was put together.
  std::size_t parts_of(const std::string& file, int parts, const NoiseSettings& noise = {}) {
    return parts_of(file, parts, noise, engine_);
  }
  std::size_t parts_of(const std::string& file, int parts, const std::shared_ptr<Engine>& engine) {
    return parts_of(file, parts, {}, engine);
  }
  std::size_t parts_of(const std::string& file, int parts, const NoiseSettings& noise,
                       const std::shared_ptr<Engine>& engine) {
    SCOPED_TRACE(file + " in " + std::to_string(parts));
    const Seen all = look(source_of(file, parts, noise), engine);
    expect_same(all, look(source_of(file, 1, noise)));
    return all.parts;
  }

  // Scenes of noise of several strengths, each so long, as ffmpeg's input and filter.
  static std::string scenes(int count, double seconds, const std::string& of = {}) {
    std::string inputs;
    std::string filters;
    std::string names;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      inputs += std::string("-f lavfi -i ") + (i % 2 == 0 ? "pal75bars=" : "color=gray:") +
                "s=64x64:r=25:d=" + std::to_string(seconds) + " ";
      filters += "[" + number + "]noise=alls=" + std::to_string(20 + 10 * (i % 3)) +
                 ":allf=t,setsar=1,format=yuv420p" + of + "[s" + number + "];";
      names += "[s" + number + "]";
    }
    return inputs + "-filter_complex \"" + filters + names + "concat=n=" + std::to_string(count) + "\" ";
  }
  std::string clip(const std::string& name, const std::string& options = {}) const {
    return make(name, scenes(6, 0.7) + kH264 + options);
  }
  // One scene of six seconds, with more noise where `when` is true.
  std::string take(const std::string& when) const {
    return make("take.mp4",
                "-f lavfi -i color=gray:s=128x128:r=25:d=6 -vf \"noise=alls=12:allf=t,noise=alls=40:allf=t:"
                "enable='" +
                    when + "',format=yuv420p\" -c:v libx264 -preset veryfast -qp 8 -g 12 -bf 2");
  }
  // Scenes of one grey each that end at these seconds, without noise but where `when` is true.
  std::string clean(const std::string& name, const std::vector<double>& ends, const std::string& when) const {
    std::string inputs;
    std::string names;
    double begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      inputs += std::string("-f lavfi -i color=") + (i % 2 == ends.size() % 2 ? "0x303030" : "gray") +
                ":s=128x128:r=25:d=" + std::to_string(ends[i] - begin) + " ";
      names += "[" + std::to_string(i) + "]";
      begin = ends[i];
    }
    return make(name, inputs + "-filter_complex \"" + names + "concat=n=" + std::to_string(ends.size()) +
                          ",noise=alls=12:allf=t:enable='" + when +
                          "',format=yuv420p\" -c:v libx264 -preset veryfast -qp 8 -g 12 -bf 2");
  }
  std::string copy(const std::string& name, const std::string& from, const std::string& options = {}) const {
    return make(name, "-fflags +genpts -i " + from + " -c copy " + options);
  }

  static inline const std::string kH264 = "-c:v libx264 -preset veryfast -g 12 -bf 2 ";
  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");

 private:
  std::ostringstream told_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST(PartsOfASource, AreAsManyAsProcessorsAndFramesAllow) {
  const auto expect = [](int processors, bool on_gpu, std::int64_t frames, PartCounts expected) {
    EXPECT_EQ(parts_for(processors, on_gpu, frames), expected)
        << processors << ", " << on_gpu << ", " << frames;
  };
  expect(1, false, 100000, {1, 0});
  expect(11, false, 100000, {1, 0});
  expect(12, false, 100000, {2, 0});
  expect(24, false, 100000, {3, 0});
  expect(32, false, 100000, {4, 0});
  expect(256, false, 100000, {4, 0});
  expect(32, false, 1999, {3, 0});
  expect(32, false, 999, {1, 0});
  expect(32, false, 0, {1, 0});  // nobody knows how long it is
  expect(1, true, 100000, {0, 7});
  expect(24, true, 100000, {1, 7});
  expect(32, true, 100000, {2, 7});
  expect(256, true, 100000, {4, 7});
  expect(24, true, 1999, {1, 2});
  expect(24, true, 0, {0, 1});
}

TEST_F(LookThroughTest, PartsAreTheWholeInManyContainers) {
  const std::string closed = clip("closed.mp4");
  EXPECT_EQ(parts_of(closed, 2), 2U);
  EXPECT_GT(parts_of(closed, 5), 2U);
  EXPECT_GT(parts_of(clip("open.mkv", "-x264-params open-gop=1"), 3), 1U);
  EXPECT_GT(parts_of(make("intra.avi", scenes(6, 0.7) + "-c:v mjpeg -q:v 3"), 4), 1U);
  EXPECT_GT(parts_of(copy("stream.ts", closed), 3), 1U);
  EXPECT_GT(parts_of(copy("late.mkv", closed, "-output_ts_offset 7"), 3), 1U);
  // Its edit list leaves out the first half second, between key frames.
  EXPECT_GT(parts_of(make("cut.mp4", "-ss 0.7 -i " + closed + " -c copy"), 3), 1U);
}

TEST_F(LookThroughTest, FieldsAndFramesOfVariableRateAreTheWhole) {
  EXPECT_GT(parts_of(clip("interlaced.mkv", "-flags +ildct+ilme -x264-params tff=1"), 3), 1U);
  EXPECT_GT(parts_of(make("variable.mkv",
                          scenes(6, 0.7, ",setpts='PTS+0.3*mod(N,3)/25/TB'") + "-vsync vfr " + kH264),
                     3),
            1U);
  const std::string mpeg = "-c:v mpeg2video -q:v 4 -g 12 ";
  const std::string progressive = make("progressive.m2v", scenes(4, 0.7) + mpeg);
  const std::string fields = make("fields.m2v", scenes(2, 0.7) + mpeg + "-flags +ildct+ilme");
  const std::string both = copy("both.mkv", "'concat:" + progressive + "|" + fields + "'");
  EXPECT_EQ(parts_of(both, 3), 1U) << "where fields begin, a reader of the whole tells";
  EXPECT_FALSE(look(source_of(both, 3)).diagnostics.empty());
}

// Frames of another size than the source's first are converted to that, wherever a part begins.
TEST_F(LookThroughTest, FramesThatChangeTheirSizeAreTheWhole) {
  const std::string one = clip("one.ts");
  const std::string other = make("other.ts", "-i " + one + " -vf scale=96:80 " + kH264);
  const std::string both = path("both.ts");
  std::ofstream(both, std::ios::binary) << io::bytes_of(one) << io::bytes_of(other);
  EXPECT_EQ(parts_of(both, 3), 1U);
}

TEST_F(LookThroughTest, ScenesWithoutNoiseAreTheWhole) {
  parts_of(make("clean.mkv", scenes(6, 0.7, ",lutyuv=y='bitand(val,224)':u=128:v=128") + "-c:v ffv1"), 3);
}

TEST_F(LookThroughTest, ASceneIsDividedWhereItsNoiseIsGiven) {
  NoiseSettings noise;
  noise.noise = NoiseProfile{{{10, 10, 10}}, std::nullopt};
  EXPECT_EQ(parts_of(take("0"), 4, noise), 4U);
  EXPECT_EQ(parts_of(clip("scenes.mp4"), 4, noise), 4U);
}

// The second part is told what the first one holds.
TEST_F(LookThroughTest, ASingleSceneIsTheWhole) {
  const std::string source = take("0");
  EXPECT_EQ(parts_of(source, 2, std::make_shared<WaitingEngine>(Seconds{3.1}, Seconds{2.8, 2.95})), 2U);
  parts_of(source, 5);
}

// Which frames the first part checks, the average rate doesn't tell.
TEST_F(LookThroughTest, ASceneOfAVariableRateIsDivided) {
  const std::string source =
      make("variable.mp4", "-i " + take("0") +
                               " -vf \"setpts='if(lt(N,75),N/25,(2*N-75)/25)/TB'\" -vsync vfr "
                               "-c:v libx264 -preset veryfast -qp 8 -g 12 -bf 2");
  EXPECT_EQ(parts_of(source, 2, std::make_shared<WaitingEngine>(Seconds{4.65}, Seconds{4.2, 4.4})), 2U);
}

// So it is where a scene's noise has changed before, or the scene doesn't begin with the source.
TEST_F(LookThroughTest, ASceneIsTheWholeWhereItsNoiseChanges) {
  EXPECT_EQ(parts_of(take("between(t,2.0,4.8)"), 2,
                     std::make_shared<WaitingEngine>(Seconds{3.1}, Seconds{2.8, 2.95})),
            2U);
  const std::string title =
      make("title.mp4", "-f lavfi -i color=black:s=128x128:r=25:d=1.12 -i " + take("0") +
                            " -filter_complex \"[0]format=yuv420p,setsar=1[a];[1]setsar=1[b];"
                            "[a][b]concat\" -c:v libx264 -preset veryfast -qp 8 -g 12 -bf 2");
  EXPECT_EQ(parts_of(title, 2, std::make_shared<WaitingEngine>(Seconds{3.7}, Seconds{3.3, 3.5})), 2U);
}

// The second part has come to its end before it could be told anything. It can take over where the noise of
// both changes.
TEST_F(LookThroughTest, ASceneIsTheWholeWhoeverIsTheFirst) {
  EXPECT_EQ(
      parts_of(take("between(t,2.0,4.8)"), 2, std::make_shared<WaitingEngine>(Seconds{0, 0.1}, Seconds{5.8})),
      2U);
  parts_of(take("0"), 3, std::make_shared<WaitingEngine>(Seconds{0, 0.1}, Seconds{3.9, 4}));
}

// Parts that aren't told hold the same as the first one, no noise, but check other frames than it does: its
// scene begins after 28 frames.
TEST_F(LookThroughTest, WhoChecksOtherFramesDoesNotTakeOver) {
  const auto quick = std::make_shared<WaitingEngine>(Seconds{0, 0.1}, Seconds{5.8});
  parts_of(clean("late.mp4", {1.12, 6}, "gte(t,4.8)"), 2, quick);
  // Nor does the second one where the third has taken over already, which has the same frames from 4.4 s on.
  const auto again = std::make_shared<WaitingEngine>(Seconds{0, 0.1}, Seconds{5.8});
  parts_of(clean("cut.mp4", {1.12, 4.4, 6}, "between(t,2.4,3)"), 3, again);
}

// The second part holds the same as the first one, no noise, until it is told of noise that is gone before it
// begins.
TEST_F(LookThroughTest, WhatWasFoundBeforeAPartWasToldOtherwiseDoesNotCount) {
  const auto slow = std::make_shared<WaitingEngine>(Seconds{3.4}, Seconds{1.6, 1.8});
  parts_of(clean("gone.mp4", {6}, "between(t,0.4,2)"), 2, slow);
}

TEST_F(LookThroughTest, WhoIsThroughTakesHalfOfWhatIsLeft) {
  const std::string file = make("scenes.mp4", scenes(12, 0.5) + "-c:v libx264 -preset veryfast -g 12");
  for (const NoiseSettings& noise : {NoiseSettings(), NoiseSettings{.noise = NoiseProfile{{{9}}, {}}}}) {
    LookThrough source = source_of(file, 2, noise);
    source.least_shared = 24;
    const Seen all = look(source, std::make_shared<WaitingEngine>(Seconds{4.0, 4.5}, Seconds{5.3}));
    expect_same(all, look(source_of(file, 1, noise)));
    EXPECT_GT(all.parts, 2U);
  }
}

TEST_F(LookThroughTest, SourcesWithoutKeyFramesAreTheWhole) {
  parts_of(make("endless.mp4", scenes(6, 0.7) + "-c:v libx264 -preset veryfast -g 1000 -sc_threshold 0"), 3);
  parts_of(clip("refresh.mp4", "-x264-params intra-refresh=1:scenecut=0"), 3);
}

TEST_F(LookThroughTest, WhatCantBeDividedIsReadByOne) {
  const std::string source = clip("source.mp4");
  parts_of(make("short.mp4", "-f lavfi -i testsrc2=s=64x64:r=25:d=0.12 -c:v libx264"), 8);
  parts_of(make("sound.mkv", "-f lavfi -i sine=d=20 -i " + source + " -c:v copy"), 4);
  EXPECT_EQ(parts_of(copy("raw.h264", source), 3), 1U);

  LookThrough some = source_of(source, 3);
  some.most_frames = 40;
  EXPECT_EQ(look(some).parts, 1U);
  EXPECT_EQ(look(some).frames.size(), 40U);
  LookThrough range = source_of(source, 3);
  range.reader.start = 1;
  range.reader.context_before = 2;
  EXPECT_EQ(look(range).parts, 1U);
  EXPECT_FALSE(look(range).frames.front().is_result);
}

TEST_F(LookThroughTest, NothingIsLeftOutOfSourcesInWhichAllComesTwice) {
  const std::string source = clip("source.mp4");
  NoiseSettings noise;
  noise.noise = NoiseProfile{{{10, 10, 10}}, std::nullopt};
  for (const std::string container : {".ts", ".flv", ".mkv"}) {
    const std::string once = copy("once" + container, source);
    const std::string twice = path("twice" + container);
    std::ofstream(twice, std::ios::binary) << io::bytes_of(once) << io::bytes_of(once);
    for (const int parts : {2, 3, 5}) {
      parts_of(twice, parts, noise);
    }
  }
  parts_of(path("twice.ts"), 2);
  EXPECT_EQ(look(source_of(path("twice.ts"), 2)).frames.size(), 216U);
}

// What there is to be told of it, a reader of the whole tells.
TEST_F(LookThroughTest, DamageIsTold) {
  const std::string damaged = clip("damaged.mp4");
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(damaged) * 2 / 5));
    file << std::string(3000, 'x');
  }
  EXPECT_EQ(parts_of(damaged, 4), 1U);
  EXPECT_FALSE(look(source_of(damaged, 4)).diagnostics.empty());

  for (const char* const name : {"cut.mkv", "cut.avi"}) {
    const std::string cut = clip(name);
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) * 3 / 4);
    EXPECT_EQ(parts_of(cut, 3), 1U);
    EXPECT_FALSE(look(source_of(cut, 3)).diagnostics.empty());
  }
}

TEST_F(LookThroughTest, FailuresAreThoseOfTheWhole) {
  EXPECT_THROW(look(source_of(path("absent.mp4"), 2)), Error);
  const std::string source = clip("source.mp4");
  const Seen whole = look(source_of(source, 1));
  // The second part begins after 2.1 s. It fails before it has seen a scene, or once the first has left to
  // it.
  for (const double time : {2.2, 3.9}) {
    const Seen all = look(source_of(source, 2), std::make_shared<FailingEngine>(time));
    EXPECT_EQ(all.parts, 1U);
    expect_same(all, whole);
    EXPECT_THROW(look(source_of(source, 1), std::make_shared<FailingEngine>(time)), Error);
  }
}

TEST_F(LookThroughTest, StopsAtOnceWhenItIsTold) {
  const std::string source = clip("source.mp4");
  for (const int parts : {1, 3}) {
    for (const int after : {1, 10, 60}) {
      int calls = 0;
      EXPECT_FALSE(look_through(source_of(source, parts), engine_,
                                [&](std::int64_t, std::int64_t) { return ++calls < after; }));
      EXPECT_EQ(calls, after);
    }
  }
}

TEST_F(LookThroughTest, TellsHowFarItHasCome) {
  const std::string source = clip("source.mp4");
  for (const int parts : {1, 3}) {
    std::int64_t last = 0;
    look_through(source_of(source, parts), engine_, [&](std::int64_t frames, std::int64_t expected) {
      EXPECT_GE(frames, last);
      EXPECT_EQ(expected, 108);
      last = frames;
      return true;
    });
    EXPECT_GE(last, 108);
    EXPECT_LE(last, parts == 1 ? 108 : 160);
  }
}

}  // namespace
}  // namespace limpid::app
