// Sources looked through in parts are seen as one reader of the whole sees them.
#include "app/jobs/look_through.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/engines.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

class LookThroughTest : public io::MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    spdlog::set_level(spdlog::level::off);
  }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }

  std::optional<SeenSource> look(const std::string& file, int parts, const NoiseSettings& noise = {}) {
    return look_through({.path = file, .reader = video_only(), .noise = noise, .parts = parts}, *engine_,
                        [](std::int64_t, std::int64_t) { return true; });
  }

  // Of how many parts it was put together.
  std::size_t expect_same(const std::string& file, int parts, const NoiseSettings& noise = {}) {
    SCOPED_TRACE(file + " in " + std::to_string(parts));
    const SeenSource whole = look(file, 1, noise).value();
    const SeenSource all = look(file, parts, noise).value();
    EXPECT_EQ(whole.parts, 1U);
    EXPECT_EQ(all.frames.size(), whole.frames.size());
    for (std::size_t i = 0; i < std::min(all.frames.size(), whole.frames.size()); ++i) {
      const SeenFrame& one = all.frames[i];
      const SeenFrame& other = whole.frames[i];
      EXPECT_TRUE(one.time == other.time && one.hash == other.hash && one.is_result == other.is_result &&
                  one.begins_scene == other.begins_scene && one.interlaced == other.interlaced)
          << "frame " << i;
      EXPECT_TRUE(all.levels[one.level] == whole.levels[other.level]) << "frame " << i;
      if (HasFailure()) {
        break;
      }
    }
    EXPECT_EQ(all.levels.size(), whole.levels.size());
    const io::Diagnostics told = whole.reader->diagnostics();
    EXPECT_EQ(all.reader->diagnostics().size(), told.size());
    return all.parts;
  }

  // Scenes of noise of several strengths, each of so many frames, as ffmpeg's input and filter.
  static std::string scenes(int count, double seconds, const std::string& of = {}) {
    std::string inputs;
    std::string filters;
    std::string names;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      inputs += "-f lavfi -i " +
                std::string(i % 2 == 0 ? "testsrc2=s=128x96:r=25:d=" : "smptebars=s=128x96:r=25:d=") +
                std::to_string(seconds) + " ";
      filters += "[" + number + "]noise=alls=" + std::to_string(10 + 10 * (i % 3)) +
                 ":allf=t,setsar=1,format=yuv420p" + of + "[s" + number + "];";
      names += "[s" + number + "]";
    }
    return inputs + "-filter_complex \"" + filters + names + "concat=n=" + std::to_string(count) + "\" ";
  }

 private:
  static io::ReaderOptions video_only() {
    io::ReaderOptions options;
    options.audio = options.subtitles = options.data = false;
    return options;
  }

  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
};

TEST_F(LookThroughTest, PartsAreTheWholeInAllContainers) {
  const std::string content = scenes(6, 0.7);
  const std::string h264 = "-c:v libx264 -preset veryfast -g 12 -bf 2 ";
  EXPECT_GT(expect_same(make("closed.mp4", content + h264), 2), 1U);
  EXPECT_GT(expect_same(make("open.ts", content + h264 + "-x264-params open-gop=1"), 3), 1U);
  EXPECT_GT(expect_same(make("intra.avi", content + "-c:v mjpeg -q:v 3"), 5), 1U);
  EXPECT_GT(expect_same(make("late.mkv", content + h264 + "-output_ts_offset 7"), 4), 1U);
}

TEST_F(LookThroughTest, FramesOfVariableRateAreTheWhole) {
  const std::string source = make("variable.mkv", scenes(5, 0.7, ",setpts='PTS+0.3*mod(N,3)/25/TB'") +
                                                      "-vsync vfr -c:v libx264 -preset veryfast -g 10");
  EXPECT_GT(expect_same(source, 3), 1U);
}

// Nobody can take over where no scene begins.
TEST_F(LookThroughTest, ASingleSceneIsLookedThroughToItsEnd) {
  const std::string source = make("one.mp4", scenes(1, 4) + "-c:v libx264 -preset veryfast -g 12");
  EXPECT_EQ(expect_same(source, 3), 1U);
}

TEST_F(LookThroughTest, ALongSceneIsLookedThroughByWhoKnowsItsBeginning) {
  const std::string source = make(
      "long.mp4",
      "-f lavfi -i testsrc2=s=128x96:r=25:d=4 -f lavfi -i smptebars=s=128x96:r=25:d=1 "
      "-filter_complex \"[0]noise=alls=20:allf=t,setsar=1,format=yuv420p[a];[1]setsar=1,format=yuv420p[b];"
      "[a][b]concat=n=2\" -c:v libx264 -preset veryfast -g 12");
  EXPECT_EQ(expect_same(source, 5), 2U);
}

TEST_F(LookThroughTest, GivenNoiseNeedsNoScene) {
  NoiseSettings noise;
  noise.noise = NoiseProfile{{{10, 10, 10}}, std::nullopt};
  const std::string source = make("given.mp4", scenes(1, 4) + "-c:v libx264 -preset veryfast -g 12");
  EXPECT_EQ(expect_same(source, 4, noise), 4U);
}

TEST_F(LookThroughTest, SourcesWithoutKeyFramesAreTheWhole) {
  expect_same(make("endless.mp4", scenes(5, 0.7) + "-c:v libx264 -preset veryfast -g 1000 -sc_threshold 0"),
              3);
  expect_same(make("refresh.mp4", scenes(5, 0.7) + "-c:v libx264 -preset veryfast -x264-params "
                                                   "intra-refresh=1:keyint=12:scenecut=0"),
              3);
}

TEST_F(LookThroughTest, MorePartsThanFrames) {
  expect_same(make("short.mp4", "-f lavfi -i testsrc2=s=128x96:r=25:d=0.12 -c:v libx264"), 8);
}

// What there is to be told of it, a reader of the whole tells.
TEST_F(LookThroughTest, DamageIsTold) {
  const std::string source = make("whole.mp4", scenes(6, 0.7) + "-c:v libx264 -preset veryfast -g 12");
  const std::string damaged = path("damaged.mp4");
  std::filesystem::copy_file(source, damaged);
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(damaged) * 2 / 5));
    file << std::string(3000, 'x');
  }
  EXPECT_FALSE(look(damaged, 1).value().reader->diagnostics().empty());
  EXPECT_EQ(expect_same(damaged, 4), 1U);

  const std::string cut = path("cut.mkv");
  std::filesystem::copy_file(make("whole.mkv", scenes(6, 0.7) + "-c:v libx264 -preset veryfast -g 12"), cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) * 3 / 4);
  EXPECT_FALSE(look(cut, 1).value().reader->diagnostics().empty());
  EXPECT_EQ(expect_same(cut, 3), 1U);
}

TEST_F(LookThroughTest, StopsWhenItIsTold) {
  const std::string source = make("source.mp4", scenes(3, 1) + "-c:v libx264 -preset veryfast -g 12");
  for (const int parts : {1, 3}) {
    EXPECT_FALSE(look_through({.path = source, .reader = {}, .noise = {}, .parts = parts},
                              *engine_registry().open("cpu"),
                              [](std::int64_t, std::int64_t) { return false; }));
  }
  EXPECT_THROW(look(path("absent.mp4"), 2), Error);
}

}  // namespace
}  // namespace limpid::app
