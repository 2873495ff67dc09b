#include "core/device_stages.h"

#include <gtest/gtest.h>

#include <cstdint>

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
  stage.add_turn(0, 1000, 1300);  // what was before the first turn is no wait
  expect_is(stage, {1, 300, 0, 0});
  stage.add_turn(1100, 1350, 1400);  // there was room all the time
  expect_is(stage, {2, 350, 50, 0});
  stage.add_turn(1600, 1600, 1700);  // it began when there was room
  expect_is(stage, {3, 450, 50, 200});
  stage.add_turn(1730, 1800, 1900);  // there was room, and then input
  expect_is(stage, {4, 550, 120, 230});
  stage.add_turn(1950, 1900, 1950);  // more than the clocks can tell apart
  expect_is(stage, {5, 600, 120, 230});
  EXPECT_EQ(stage.end_ns, 1950);
}

// Moments are told to half a microsecond only: one turn may seem to begin before the last has ended.
TEST(DeviceStage, TimesAddUpToTheWholeWhateverTheClocksSay) {
  DeviceStage stage;
  stage.add_turn(0, 1000, 2000);
  stage.add_turn(0, 1800, 2500);
  stage.add_turn(0, 2600, 2550);
  expect_is(stage, {3, 1500, 100, 0});
  EXPECT_EQ(stage.end_ns, 2600);
}

}  // namespace
}  // namespace limpid
