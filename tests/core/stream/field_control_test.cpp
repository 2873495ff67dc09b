// SPDX-License-Identifier: MIT
// The frames of a stream that are filtered by field.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/stream/noise_control.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

constexpr Reach kSpatial{};
constexpr Reach kOverTime{.before = 4, .after = 4};

using CombedShares = std::map<std::int64_t, float>;

// Frames of certain numbers have a share of combed blocks.
class CombEngine : public test::ForwardingEngine {
 public:
  explicit CombEngine(CombedShares combed) : ForwardingEngine("combs", {}), combed_(std::move(combed)) {}
  float combed_share(const Frame& frame, const Frame& before) override {
    EXPECT_EQ(frame.index, before.index + 1);
    EXPECT_EQ(frame.memory, before.memory);
    const auto found = combed_.find(frame.index);
    return found == combed_.end() ? 0 : found->second;
  }

 private:
  CombedShares combed_;
};

class FieldControlTest : public testing::Test {
 protected:
  static Frame frame_of(std::int64_t index) {
    Frame frame = allocate_frame(oracle::gray(8, 8));
    frame.index = index;
    return frame;
  }
  struct Decided {
    std::set<std::int64_t> by_field;
    std::set<std::int64_t> combed;
  };
  // Decisions on 40 frames.
  static Decided decided(FieldControl fields, const std::set<std::int64_t>& flagged = {},
                         std::int64_t begins_anew = -1) {
    Decided all;
    for (std::int64_t i = 0; i < 40; ++i) {
      Frame frame = frame_of(i);
      frame.interlaced = flagged.contains(i);
      frame.begins_anew = i == begins_anew;
      fields.decide(frame);
      if (frame.interlaced) {
        all.by_field.insert(i);
      }
      if (frame.combed) {
        all.combed.insert(i);
      }
    }
    return all;
  }
  static std::set<std::int64_t> range(std::int64_t first, std::int64_t last) {
    std::set<std::int64_t> all;
    for (; first <= last; ++first) {
      all.insert(first);
    }
    return all;
  }
};

TEST_F(FieldControlTest, FramesCombedInManyPlacesAreFilteredByField) {
  CombEngine engine(CombedShares{{0, 1}, {7, 0.3F}, {12, 0.2F}, {20, 1}});
  EXPECT_EQ(decided({FieldChoice::kAuto, kSpatial, engine}).by_field, (std::set<std::int64_t>{7, 20}))
      << "nothing is known of the first";
}

// Where fields hardly differ, whole pictures have better results, and so has chroma almost everywhere.
TEST_F(FieldControlTest, FlaggedFramesAreFilteredByFieldIfTheyAreCombedInSomePlaces) {
  CombEngine engine(CombedShares{{0, 1}, {3, 0.08F}, {4, 0.06F}, {12, 0.08F}, {20, 1}});
  const Decided all = decided({FieldChoice::kAuto, kSpatial, engine}, {0, 3, 4, 5});
  EXPECT_EQ(all.by_field, (std::set<std::int64_t>{3, 20}));
  std::set<std::int64_t> combed = range(3, 12 + FieldControl::kHold);
  combed.merge(range(20, 20 + FieldControl::kHold));
  combed.insert(0);
  EXPECT_EQ(all.combed, combed) << "noise of flagged frames is always estimated by field";
}

TEST_F(FieldControlTest, TheRowsOfAFlaggedFirstFrameDecide) {
  CombEngine engine(CombedShares{});
  for (const bool is_combed : {true, false}) {
    for (const bool is_flagged : {true, false}) {
      Frame frame = allocate_frame(oracle::gray(64, 64));
      for (int y = 0; y < 64; ++y) {
        for (int x = 0; x < 64; ++x) {
          const int moved = is_combed ? x + y % 2 * 9 : x;
          frame.planes[0].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(moved / 5 % 3 * 100);
        }
      }
      frame.interlaced = is_flagged;
      FieldControl(FieldChoice::kAuto, kSpatial, engine).decide(frame);
      EXPECT_EQ(frame.interlaced, is_combed && is_flagged);
      EXPECT_EQ(frame.combed, is_flagged);
    }
  }
}

TEST_F(FieldControlTest, FiltersOverTimeGetThoseBehindThemByFieldToo) {
  CombEngine engine(CombedShares{{2, 0.3F}, {7, 0.25F}, {15, 0.2F}, {20, 1}});
  std::set<std::int64_t> expected = range(2, 7 + FieldControl::kHold);
  expected.merge(range(20, 20 + FieldControl::kHold));
  EXPECT_EQ(decided({FieldChoice::kAuto, kOverTime, engine}).by_field, expected);
}

TEST_F(FieldControlTest, NoiseIsEstimatedByFieldInFramesCombedInFewPlaces) {
  CombEngine engine(CombedShares{{2, 0.02F}, {20, 1}});
  std::set<std::int64_t> expected = range(2, 2 + FieldControl::kHold);
  expected.merge(range(20, 20 + FieldControl::kHold));
  for (const Reach& reach : {kSpatial, kOverTime}) {
    EXPECT_EQ(decided({FieldChoice::kAuto, reach, engine}).combed, expected);
  }
  EXPECT_EQ(decided({FieldChoice::kProgressive, kSpatial, engine}).combed, std::set<std::int64_t>());
}

TEST_F(FieldControlTest, AStreamThatBeginsAnewForgets) {
  CombEngine engine(CombedShares{{5, 1}, {9, 1}});
  const Decided anew = decided({FieldChoice::kAuto, kOverTime, engine}, {}, 9);
  EXPECT_EQ(anew.by_field, range(5, 8));
  EXPECT_EQ(anew.combed, range(5, 8));
  FieldControl fields(FieldChoice::kAuto, kOverTime, engine);
  for (const std::int64_t index : {4, 5}) {
    Frame frame = frame_of(index);
    fields.decide(frame);
    EXPECT_EQ(frame.interlaced, index == 5);
  }
  fields.reset();
  Frame frame = frame_of(30);
  fields.decide(frame);
  EXPECT_FALSE(frame.interlaced || frame.combed);
}

TEST_F(FieldControlTest, AChoiceOverridesFlagsAndSamples) {
  CombEngine engine(CombedShares{{2, 1}});
  EXPECT_EQ(decided({FieldChoice::kProgressive, kOverTime, engine}, {3, 4}).by_field,
            std::set<std::int64_t>());
  EXPECT_EQ(decided({FieldChoice::kInterlaced, kOverTime, engine}, {3, 4}).by_field, range(0, 39));
}

TEST_F(FieldControlTest, FramesInAnotherMemoryAreNotCompared) {
  CombEngine engine(CombedShares{{1, 1}, {2, 1}, {3, 1}});
  FieldControl fields(FieldChoice::kAuto, kSpatial, engine);
  std::vector<bool> interlaced;
  for (std::int64_t i = 0; i < 4; ++i) {
    Frame frame = frame_of(i);
    frame.memory = i == 1 ? cuda_memory(0) : kHostMemory;
    fields.decide(frame);
    interlaced.push_back(frame.interlaced);
  }
  EXPECT_EQ(interlaced, (std::vector<bool>{false, false, false, true}));
}

// Decisions on the frames in a filter's reach are those of the whole stream if the extended reach is read
// before them.
TEST_F(FieldControlTest, ReachTellsHowManyFramesDecideOnOne) {
  EXPECT_EQ(FieldControl::reach_with(FieldChoice::kInterlaced, kOverTime), kOverTime);
  const Reach reach = FieldControl::reach_with(FieldChoice::kAuto, kOverTime);
  EXPECT_EQ(reach.after, kOverTime.after);
  CombEngine engine(CombedShares{{10, 1}});
  const std::set<std::int64_t> whole = decided({FieldChoice::kAuto, kOverTime, engine}).by_field;
  for (std::int64_t result = 12; result < 30; ++result) {
    FieldControl fields(FieldChoice::kAuto, kOverTime, engine);
    for (std::int64_t i = std::max<std::int64_t>(result - reach.before, 0); i <= result; ++i) {
      Frame frame = frame_of(i);
      fields.decide(frame);
      EXPECT_TRUE(i < result - kOverTime.before || frame.interlaced == whole.contains(i))
          << i << " for " << result;
    }
  }
  EXPECT_EQ(FieldControl::reach_with(FieldChoice::kAuto, kSpatial), (Reach{.before = 1, .after = 0}));
}

}  // namespace
}  // namespace limpid
