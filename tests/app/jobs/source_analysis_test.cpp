// SPDX-License-Identifier: MIT
// The analysis stored in a plan agrees with a single run over the source's frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/jobs/plan.h"
#include "core/base/error.h"
#include "core/engines.h"
#include "io/media/lossless_file.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

// Fails for frames from a certain time on.
class FailingEngine : public test::ForwardingEngine {
 public:
  explicit FailingEngine(double seconds) : ForwardingEngine("failing", {}), seconds_(seconds) {}
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    if (io::presentation_time(frame).value() >= seconds_) {
      throw Error("failed");
    }
    return ForwardingEngine::brightness_histogram(frame);
  }

 private:
  double seconds_;
};

class SourceAnalysisTest : public io::MediaTest {
 protected:
  static AnalysisOptions options_for(const std::string& file, const NoiseSettings& noise = {}) {
    AnalysisOptions options{
        .path = file, .reader = {}, .noise = noise, .fields = FieldChoice::kAuto, .reach = {}};
    options.reader.audio = options.reader.subtitles = options.reader.data = false;
    return options;
  }
  AnalyzedSource analyze(const AnalysisOptions& options) const {
    return analyze_source(options, engine_, [](std::int64_t, std::int64_t) { return true; }).value();
  }
  AnalyzedSource analyze(const std::string& file) const { return analyze(options_for(file)); }

  // The frames for which the analysis differs from a single run over them.
  std::vector<std::size_t> differences(const AnalyzedSource& source, const AnalysisOptions& options) const {
    const io::Clip clip = io::read_clip(options.path, options.reader);
    NoiseControl noise(options.noise, *engine_);
    for (const Frame& frame : clip.frames) {
      noise.send(frame);
    }
    noise.flush();
    EXPECT_EQ(source.frames.size(), clip.frames.size());
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < std::min(source.frames.size(), clip.frames.size()); ++i) {
      const AnalyzedFrame& frame = source.frames[i];
      const bool is_same = source.levels[frame.level] == noise.receive().value().level &&
                           frame.hash == io::frame_hash(clip.frames[i]) && frame.time == clip.times[i] &&
                           frame.is_result == !clip.frames[i].context_only;
      if (!is_same) {
        all.push_back(i);
      }
    }
    return all;
  }
  void expect_as_one_run(const AnalysisOptions& options) const {
    EXPECT_EQ(differences(analyze(options), options), std::vector<std::size_t>()) << options.path;
  }
  static std::vector<std::size_t> cuts_of(const AnalyzedSource& source) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i < source.frames.size(); ++i) {
      if (source.frames[i].begins_scene) {
        cuts.push_back(i);
      }
    }
    return cuts;
  }

  // Six scenes of 18 frames with noise of three levels, as ffmpeg's input and filter.
  static std::string scenes(const std::string& of = {}) {
    std::string inputs;
    std::string filters;
    std::string names;
    for (int i = 0; i < 6; ++i) {
      const std::string number = std::to_string(i);
      inputs +=
          std::string("-f lavfi -i ") + (i % 2 == 0 ? "pal75bars=" : "color=gray:") + "s=64x64:r=25:d=0.72 ";
      filters += "[" + number + "]noise=alls=" + std::to_string(20 + 10 * (i % 3)) +
                 ":allf=t,setsar=1,format=yuv420p" + of + "[s" + number + "];";
      names += "[s" + number + "]";
    }
    return inputs + "-filter_complex \"" + filters + names + "concat=n=6\" ";
  }
  std::string clip(const std::string& name, const std::string& options = {}) const {
    return make(name, scenes() + kH264 + options);
  }

  static inline const std::string kH264 = "-c:v libx264 -preset veryfast -g 12 -bf 2 ";
  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
};

TEST_F(SourceAnalysisTest, FindsNoiseHashesAndTimesOfOneRun) {
  const std::string closed = clip("closed.mp4");
  expect_as_one_run(options_for(closed));
  expect_as_one_run(options_for(clip("open.mkv", "-x264-params open-gop=1")));
  expect_as_one_run(options_for(clip("interlaced.mkv", "-flags +ildct+ilme -x264-params tff=1")));
  // Its edit list omits the first half second, between key frames.
  expect_as_one_run(options_for(make("cut.mp4", "-ss 0.7 -i " + closed + " -c copy")));
  expect_as_one_run(
      options_for(make("variable.mkv", scenes(",setpts='PTS+0.3*mod(N,3)/25/TB'") + "-vsync vfr " + kH264)));
  expect_as_one_run(
      options_for(make("clean.mkv", scenes(",lutyuv=y='bitand(val,224)':u=128:v=128") + "-c:v ffv1")));
  expect_as_one_run(options_for(closed, {.noise = NoiseProfile{{{10, 10, 10}}, std::nullopt}}));
}

TEST_F(SourceAnalysisTest, FramesThatChangeTheirSizeAreConvertedToTheFirst) {
  const std::string one = clip("one.ts");
  const std::string other = make("other.ts", "-i " + one + " -vf scale=96:80 " + kH264);
  const std::string both = path("both.ts");
  std::ofstream(both, std::ios::binary) << io::bytes_of(one) << io::bytes_of(other);
  expect_as_one_run(options_for(both));
}

TEST_F(SourceAnalysisTest, FindsCutsWhetherNoiseIsEstimatedOrGiven) {
  const std::string file = make("scenes.mkv", scenes() + "-c:v ffv1");
  const std::vector<std::size_t> cuts{18, 36, 54, 72, 90};
  EXPECT_EQ(cuts_of(analyze(file)), cuts);
  EXPECT_EQ(cuts_of(analyze(options_for(file, {.noise = NoiseProfile{{{9}}, {}}}))), cuts);
}

TEST_F(SourceAnalysisTest, ReadsNoMoreThanIsAskedFor) {
  const std::string file = clip("source.mp4");
  AnalysisOptions some = options_for(file);
  some.most_frames = 40;
  EXPECT_EQ(analyze(some).frames.size(), 40U);
  AnalysisOptions range = options_for(file);
  range.reader.start = 1;
  range.reader.end = 2;
  range.reader.context_before = 2;
  range.reader.context_after = 7;
  const AnalyzedSource source = analyze(range);
  ASSERT_EQ(source.frames.size(), 34U);
  EXPECT_EQ(std::ranges::count(source.frames, false, &AnalyzedFrame::is_result), 9);
  // The levels of the last frames depend on later ones.
  const AnalyzedSource whole = analyze(file);
  for (std::size_t i = 0; i < 29; ++i) {
    EXPECT_EQ(source.levels[source.frames[i].level], whole.levels[whole.frames[23 + i].level]) << i;
  }
}

TEST_F(SourceAnalysisTest, ReportsDamage) {
  const std::string damaged = clip("damaged.mp4");
  {
    std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(damaged) * 2 / 5));
    file << std::string(3000, 'x');
  }
  AnalysisOptions options = options_for(damaged);
  options.reader.decoder_threads = 1;  // several threads decode damage differently from run to run
  expect_as_one_run(options);
  EXPECT_FALSE(analyze(options).reader->diagnostics().empty());

  const std::string cut = clip("cut.mkv");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) * 3 / 4);
  EXPECT_FALSE(analyze(cut).reader->diagnostics().empty());
}

TEST_F(SourceAnalysisTest, ThrowsWhatReaderAndEngineThrow) {
  const auto go_on = [](std::int64_t, std::int64_t) { return true; };
  EXPECT_THROW(analyze(path("absent.mp4")), Error);
  const std::string file = clip("source.mp4");
  EXPECT_THROW(analyze_source(options_for(file), std::make_shared<FailingEngine>(2.2), go_on), Error);
  NoiseSettings luma;
  luma.strength.chroma = 0;
  const std::string colors =
      make("rgb.mkv", "-f lavfi -i testsrc=s=64x48:r=25:d=0.2 -c:v ffv1 -pix_fmt gbrp");
  EXPECT_THROW(analyze(options_for(colors, luma)), UsageError);
}

TEST_F(SourceAnalysisTest, ReportsProgressAndStopsAtOnce) {
  const std::string file = clip("source.mp4");
  std::int64_t last = 0;
  analyze_source(options_for(file), engine_, [&](std::int64_t frames, std::int64_t expected) {
    EXPECT_EQ(frames, last + 1);
    EXPECT_EQ(expected, 108);
    last = frames;
    return true;
  });
  EXPECT_EQ(last, 108);
  for (const int after : {1, 10, 60}) {
    int calls = 0;
    EXPECT_FALSE(analyze_source(options_for(file), engine_,
                                [&](std::int64_t, std::int64_t) { return ++calls < after; }));
    EXPECT_EQ(calls, after);
  }
}

}  // namespace
}  // namespace limpid::app
