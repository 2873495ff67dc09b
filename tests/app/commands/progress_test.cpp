// SPDX-License-Identifier: MIT
#include "app/commands/progress.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/console/logging.h"
#include "app/console/text.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

ProgressState quarter_done() {
  ProgressState state;
  state.frames = 250;
  state.total = 1000;
  state.elapsed = 10;
  state.fps = 20;
  state.average_fps = 25;
  state.source_fps = 50;
  state.busy = {0.125, 1, 0.352};
  return state;
}

TEST(Progress, LineShowsFramesShareRatesAndTimeToGo) {
  EXPECT_EQ(to_line(quarter_done()),
            "250/1000  25.0 %  20.0 fps, avg 25.0  0.50x  ETA 0:30  dec 12 den 100 enc 35%");
}

TEST(Progress, LineLeavesOutWhatIsNotKnown) {
  ProgressState state = quarter_done();
  state.total = 0;
  state.source_fps = 0;
  EXPECT_EQ(to_line(state), "250 frames  20.0 fps, avg 25.0  dec 12 den 100 enc 35%");
}

TEST(Progress, LastLineShowsTheTimeTaken) {
  ProgressState state = quarter_done();
  state.frames = 1000;
  state.elapsed = 3660.6;
  state.finished = true;
  EXPECT_EQ(to_line(state),
            "1000/1000  100.0 %  20.0 fps, avg 25.0  0.50x  in 1:01:01  dec 12 den 100 enc 35%");
}

TEST(Progress, NeverPassesAHundredPerCent) {
  ProgressState state = quarter_done();
  state.frames = 1100;  // the container's number was an estimate
  EXPECT_NE(to_line(state).find("1100/1000  100.0 %"), std::string::npos);
  EXPECT_EQ(state.eta(), 0);
}

TEST(Progress, JsonHasTheSameValues) {
  const nlohmann::json json = nlohmann::json::parse(to_json_line(quarter_done()));
  EXPECT_EQ(json["frames"], 250);
  EXPECT_EQ(json["total"], 1000);
  EXPECT_EQ(json["percent"], 25.0);
  EXPECT_EQ(json["fps"], 20.0);
  EXPECT_EQ(json["average_fps"], 25.0);
  EXPECT_EQ(json["speed"], 0.5);
  EXPECT_EQ(json["eta"], 30.0);
  EXPECT_EQ(json["busy"]["denoise"], 1.0);
  EXPECT_EQ(json["busy"]["encode"], 0.352);
  EXPECT_EQ(json["finished"], false);
  EXPECT_FALSE(json.contains("input"));
  ProgressState named = quarter_done();
  named.input = "caf\xe9.mkv";  // Latin-1
  EXPECT_EQ(nlohmann::json::parse(to_json_line(named))["input"], "caf\xef\xbf\xbd.mkv");
}

TEST(Progress, LineOfALongRunFitsATerminal) {
  ProgressState state = quarter_done();
  state.total = 90000;
  state.frames = 12500;
  state.fps = 120.4;
  state.average_fps = 118.9;
  EXPECT_LT(to_line(state).size(), 80U) << to_line(state);
}

TEST(Progress, BusySharesComeFromTheStagesCounters) {
  Console console;
  StreamCounters counters;
  counters.write.busy_ns = 1'000'000'000'000'000;  // before the beginning
  Progress progress(console, ProgressStyle::kNone, counters, 10, 25);
  counters.denoise.busy_ns = 1'000'000'000'000'000;
  counters.write.frames = 3;
  const ProgressState state = progress.state();
  EXPECT_EQ(state.frames, 3);
  EXPECT_EQ(state.busy, (std::array<double, 6>{0, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(state.on_device);
}

TEST(Progress, ShowsWhatADeviceDoes) {
  ProgressState state = quarter_done();
  state.on_device = true;
  state.busy[3] = 0.21;
  state.busy[4] = 0.93;
  state.busy[5] = 0.09;
  EXPECT_TRUE(to_line(state).ends_with("dec 12 den 100 enc 35% up 21 flt 93 down 9%")) << to_line(state);
  const nlohmann::json json = nlohmann::json::parse(to_json_line(state));
  EXPECT_EQ(json["busy"]["upload"], 0.21);
  EXPECT_EQ(json["busy"]["filter"], 0.93);
  EXPECT_EQ(json["busy"]["download"], 0.09);

  Console console;
  StreamCounters counters;
  Progress progress(console, ProgressStyle::kNone, counters, 10, 25);
  counters.filter.frames = 1;
  counters.download.busy_ns = 1'000'000'000'000'000;
  EXPECT_EQ(progress.state().busy, (std::array<double, 6>{0, 0, 0, 0, 0, 1}));
  EXPECT_TRUE(progress.state().on_device);
}

TEST(Progress, JsonIsNullWhereNothingIsKnown) {
  const nlohmann::json json = nlohmann::json::parse(to_json_line(ProgressState{}));
  EXPECT_TRUE(json["total"].is_null());
  EXPECT_TRUE(json["percent"].is_null());
  EXPECT_TRUE(json["speed"].is_null());
  EXPECT_TRUE(json["eta"].is_null());
}

TEST(Progress, ACompleteRunHasAHundredPerCentOfWhatThereWas) {
  Console console;
  StreamCounters counters;
  Progress progress(console, ProgressStyle::kNone, counters, 15, 25);
  counters.write.frames = 14;  // audio made the container's duration longer
  EXPECT_EQ(progress.state(true).total, 15) << "it was interrupted";
  progress.complete();
  const nlohmann::json json = nlohmann::json::parse(to_json_line(progress.state(true)));
  EXPECT_EQ(json["percent"], 100);
  EXPECT_EQ(json["total"], 14);
  EXPECT_EQ(json["eta"], 0);
}

TEST(Progress, PlainLinesNameTheFileAndTheTime) {
  ProgressState state = quarter_done();
  state.input = "night.mkv";
  EXPECT_EQ(to_plain_line(state, "2026-11-28 10:00:05"), "2026-11-28 10:00:05 night.mkv: " + to_line(state));
}

TEST(Progress, PlainLinesComeEveryHalfMinuteOrFivePercent) {
  PlainInterval interval;
  ProgressState state;
  state.total = 10000;
  std::vector<int> printed;
  for (int second = 1; second <= 100; ++second) {
    state.elapsed = second;
    state.frames = second < 50 ? 10 * second : 500 + 110 * (second - 50);
    if (interval.is_due(state)) {
      printed.push_back(second);
    }
  }
  EXPECT_EQ(printed, (std::vector<int>{30, 53, 58, 63, 68, 73, 78, 83, 88, 93, 98}));
  EXPECT_FALSE(interval.is_due(state));
  state.finished = true;
  EXPECT_TRUE(interval.is_due(state));
}

TEST(Progress, ALineAboutTheTimeLeftComesOnce) {
  const std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
  Console console;
  set_up_logging(console, {});
  StreamCounters counters;
  int asked = 0;
  testing::internal::CaptureStderr();
  {
    Progress progress(console, ProgressStyle::kNone, counters, 1000, 25, "in.mkv", [&](const ProgressState&) {
      ++asked;
      return "about 57 min left";
    });
    for (int second = 0; second < 8; ++second) {
      progress.give_outlook(second);
      counters.write.frames = counters.write.frames + 2;
    }
  }
  spdlog::set_default_logger(before);
  EXPECT_EQ(asked, 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("about 57 min left"), std::string::npos);
}

ProgressState slow_run() {
  ProgressState state;
  state.frames = 100;
  state.total = 18000;
  state.average_fps = 5.29;
  state.elapsed = 20;
  state.busy = {0.1, 0.99, 0.2};
  return state;
}

TEST(Outlook, NamesTheTimeLeftAndAQuickerProfile) {
  EXPECT_EQ(outlook_text(slow_run(), {"vbm4d", "np"}),
            "about 56 min left; with --quality fast about 24 min, and 0.6 dB less on the test clips");
  EXPECT_EQ(outlook_text(slow_run(), {"vbm4d", "fast"}), "about 56 min left");
  EXPECT_EQ(outlook_text(slow_run(), {"bilateral", ""}), "about 56 min left");
  ProgressState state = slow_run();
  state.busy[1] = 0.5;
  EXPECT_EQ(outlook_text(state, {"vbm4d", "np"}), "about 56 min left") << "the encoder limits the run";
  state = slow_run();
  state.on_device = true;
  EXPECT_EQ(outlook_text(state, {"vbm4d", "np"}),
            "about 56 min left; with --quality fast about 25 min, and 0.6 dB less on the test clips");
}

TEST(Outlook, IsEmptyForShortRunsAndUnknownLengths) {
  ProgressState state = slow_run();
  state.average_fps = 500;
  EXPECT_EQ(outlook_text(state, {"vbm4d", "np"}), "");
  state = slow_run();
  state.total = 0;
  EXPECT_EQ(outlook_text(state, {"vbm4d", "np"}), "");
}

TEST(Outlook, NamesTheBestQualityThatTakesMuchLessMemory) {
  EXPECT_EQ(less_memory_text({"vbm4d", "high"}), "; --filter vbm4d --quality good takes 52 % of the memory");
  EXPECT_EQ(less_memory_text({"vbm4d", "np"}),
            "; --filter recursive --quality good takes 26 % of the memory");
  EXPECT_EQ(less_memory_text({"vnlb", "best"}), "; --filter vbm4d --quality high takes 63 % of the memory");
  EXPECT_EQ(less_memory_text({"recursive", "fast"}), "");
}

TEST(QuantityText, HasTheDigitsThatMatter) {
  EXPECT_EQ(frames_text(1), "1 frame");
  EXPECT_EQ(frames_text(70), "70 frames");
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(2830), "2.8 KB");
  EXPECT_EQ(size_text(1'340'000), "1.3 MB");
  EXPECT_EQ(size_text(12'000'000'000), "12.0 GB");
  EXPECT_EQ(rate_text(0.0475), "0.048");
  EXPECT_EQ(rate_text(0), "0.0");
  EXPECT_EQ(rate_text(5.29), "5.3");
  EXPECT_EQ(rate_text(251.4), "251");
  EXPECT_EQ(duration_text(50.4), "50 s");
  EXPECT_EQ(duration_text(3402), "57 min");
  EXPECT_EQ(duration_text(7790), "2 h 10 min");
}

TEST(Progress, StyleDependsOnTheTerminal) {
  EXPECT_EQ(parse_progress_style("auto", true), ProgressStyle::kStatus);
  EXPECT_EQ(parse_progress_style("auto", false), ProgressStyle::kNone);
  EXPECT_EQ(parse_progress_style("plain", false), ProgressStyle::kPlain);
  EXPECT_EQ(parse_progress_style("json", true), ProgressStyle::kJson);
  EXPECT_THROW(parse_progress_style("loud", true), UsageError);
}

}  // namespace
}  // namespace limpid::app
