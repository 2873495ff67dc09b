// SPDX-License-Identifier: MIT
#include "app/commands/progress.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  PipelineCounters counters;
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
  PipelineCounters counters;
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

TEST(Progress, StyleDependsOnTheTerminal) {
  EXPECT_EQ(parse_progress_style("auto", true), ProgressStyle::kStatus);
  EXPECT_EQ(parse_progress_style("auto", false), ProgressStyle::kNone);
  EXPECT_EQ(parse_progress_style("plain", false), ProgressStyle::kPlain);
  EXPECT_EQ(parse_progress_style("json", true), ProgressStyle::kJson);
  EXPECT_THROW(parse_progress_style("loud", true), UsageError);
}

}  // namespace
}  // namespace limpid::app
