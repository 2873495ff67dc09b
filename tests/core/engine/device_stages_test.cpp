// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/engine/denoiser.h"

namespace limpid {
namespace {

void expect_is(const DeviceStage& stage, const DeviceStage& expected) {
  EXPECT_EQ(stage.frames, expected.frames);
  EXPECT_EQ(stage.busy_ns, expected.busy_ns);
  EXPECT_EQ(stage.waited_for_input_ns, expected.waited_for_input_ns);
  EXPECT_EQ(stage.waited_for_output_ns, expected.waited_for_output_ns);
}

TEST(DeviceStage, TellsWaitsForInputFromWaitsForRoom) {
  DeviceStage stage;
  stage.add_turn(1000, 0, 1300);  // time before the first turn is not waiting
  expect_is(stage, {1, 300, 0, 0});
  stage.add_turn(1350, 1100, 1400);  // room was available all the time
  expect_is(stage, {2, 350, 50, 0});
  stage.add_turn(1200, 1600, 1700);  // input was available all the time
  expect_is(stage, {3, 450, 50, 200});
  stage.add_turn(1800, 1730, 1900);  // room was available first
  expect_is(stage, {4, 550, 120, 230});
  stage.add_turn(1920, 1950, 2000);  // input was available first, and would have waited for room in any case
  expect_is(stage, {5, 600, 120, 280});
  stage.add_turn(1700, 1600, 2100);  // both were available before the last turn had ended
  expect_is(stage, {6, 700, 120, 280});
  EXPECT_EQ(stage.end_ns, 2100);
}

TEST(DeviceStage, BeginsWithInputAndRoom) {
  DeviceStage stage;
  stage.add_turn(1000, 1200, 1300);
  expect_is(stage, {1, 100, 0, 0});
}

// Moments have a resolution of half a microsecond: a turn may seem to end before the last one.
TEST(DeviceStage, TimesAddUpToTheWholeWhateverTheClocksSay) {
  DeviceStage stage;
  stage.add_turn(1000, 0, 2000);
  stage.add_turn(1800, 0, 2500);
  stage.add_turn(2600, 0, 2550);
  stage.add_turn(2500, 0, 2590);
  expect_is(stage, {4, 1500, 100, 0});
  EXPECT_EQ(stage.end_ns, 2600);
}

}  // namespace
}  // namespace limpid
