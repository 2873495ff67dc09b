// SPDX-License-Identifier: MIT
#include "app/player/frame_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace limpid::app {
namespace {

constexpr double kFramesPerSecond = 10;

/// A store of `count` frames.
class Stored {
 public:
  int count = 40;
  int decoded = 0;
  int seeks = 0;
  std::size_t kept_frames = 8;
  bool can_seek = true;
  StageCounters counters;

  FrameStore make() {
    FrameSource source;
    source.read = [this]() -> io::Reader::Item {
      if (next_ >= count) {
        return io::Reader::End{};
      }
      ++decoded;
      Frame frame;
      frame.format.width = frame.format.height = 1;
      frame.index = next_++;
      return frame;
    };
    if (can_seek) {
      source.seek = [this](double seconds, double before, const FrameStore::GivenUp& /*given_up*/,
                           const std::function<void(Frame)>& /*glimpse*/) {
        ++seeks;
        next_ =
            std::clamp(static_cast<int>(std::ceil((seconds - before) * kFramesPerSecond - 0.01)), 0, count);
      };
    }
    return {source,
            {.live = false,
             .frames_per_second = kFramesPerSecond,
             .kept_bytes = kept_frames * frame_bytes({.width = 1, .height = 1})},
            counters};
  }

 private:
  int next_ = 0;
};

bool never() { return false; }

std::int64_t next_of(FrameStore& store) {
  const std::optional<StoredFrame> frame = store.next(never);
  return frame ? frame->frame.index : -1;
}

std::vector<std::int64_t> indices_of(const Surroundings& around) {
  std::vector<std::int64_t> indices;
  for (const Frame& frame : around.frames) {
    indices.push_back(frame.index);
  }
  return indices;
}

TEST(FrameStoreTest, ReadsEveryFrameOnce) {
  Stored stored;
  FrameStore store = stored.make();
  for (int i = 0; i < stored.count; ++i) {
    EXPECT_EQ(next_of(store), i);
  }
  EXPECT_EQ(next_of(store), -1);
  EXPECT_TRUE(store.has_reached_end());
  EXPECT_EQ(stored.decoded, stored.count);
  EXPECT_EQ(stored.counters.frames, stored.count);
}

TEST(FrameStoreTest, ASeekFindsTheFrameThatIsShownAtATime) {
  Stored stored;
  FrameStore store = stored.make();
  for (const auto& [target, frame] : {std::pair<SeekTarget, int>{{.time = 2.35, .before = false}, 23},
                                      {{.time = 2.3, .before = false}, 23},
                                      {{.time = 2.3, .before = true}, 22},
                                      {{.time = 2.0, .before = true}, 19},
                                      {{.time = 0, .before = true}, 0},
                                      {{.time = 100, .before = false}, 39}}) {
    ASSERT_TRUE(store.seek(target, never));
    EXPECT_EQ(next_of(store), frame) << target.time << (target.before ? " before" : "");
  }
}

TEST(FrameStoreTest, AStepBackToAKeptFrameDecodesNothing) {
  Stored stored;
  FrameStore store = stored.make();
  for (int i = 0; i < 6; ++i) {
    next_of(store);
  }
  const int decoded = stored.decoded;
  ASSERT_TRUE(store.seek({.time = 0.5, .before = true}, never));
  EXPECT_EQ(next_of(store), 4);
  EXPECT_EQ(next_of(store), 5);
  EXPECT_EQ(stored.decoded, decoded);
  EXPECT_EQ(stored.seeks, 0);
  EXPECT_EQ(next_of(store), 6);
}

TEST(FrameStoreTest, KeepsAsManyFramesAsFitTheMemory) {
  for (const int capacity : {4, 8}) {
    Stored stored;
    stored.kept_frames = static_cast<std::size_t>(capacity);
    FrameStore store = stored.make();
    for (int i = 0; i < 20; ++i) {
      next_of(store);
    }
    const auto has = [&](int frame) {
      return store.find({.time = frame / kFramesPerSecond, .before = false});
    };
    EXPECT_TRUE(has(18)) << capacity;
    EXPECT_TRUE(has(20 - capacity)) << capacity;
    EXPECT_FALSE(has(19 - capacity)) << capacity;
  }
}

TEST(FrameStoreTest, EarlierFramesAreDecodedBeforeTheKeptOnesRunOut) {
  Stored stored;
  FrameStore store = stored.make();
  ASSERT_TRUE(store.seek({.time = 3.5, .before = true}, never));
  EXPECT_EQ(next_of(store), 34);
  for (double time = 3.4; time > 0.05; time -= 0.1) {
    while (store.needs_earlier_frames(0)) {
      store.decode_earlier(never);
    }
    const int decoded = stored.decoded;
    ASSERT_TRUE(store.find({.time = time, .before = true})) << time;
    EXPECT_EQ(next_of(store), std::lround(time * kFramesPerSecond) - 1);
    EXPECT_EQ(stored.decoded, decoded);
  }
}

TEST(FrameStoreTest, TheSourceIsSoughtAgainBehindTheKeptFrames) {
  Stored stored;
  FrameStore store = stored.make();
  ASSERT_TRUE(store.seek({.time = 2.5, .before = true}, never));
  EXPECT_EQ(next_of(store), 24);
  store.decode_earlier(never);
  std::vector<std::int64_t> read;
  for (std::int64_t index = next_of(store); index >= 0; index = next_of(store)) {
    read.push_back(index);
  }
  ASSERT_EQ(read.size(), 15U);
  EXPECT_EQ(read.front(), 25);
  EXPECT_EQ(read.back(), 39);
}

TEST(FrameStoreTest, NeighborsDoNotMoveTheReadingPosition) {
  Stored stored;
  FrameStore store = stored.make();
  const Reach reach{.before = 2, .after = 3};
  store.set_reach(reach);
  ASSERT_TRUE(store.seek({.time = 2.0, .before = false}, never));
  EXPECT_EQ(next_of(store), 20);
  const Surroundings around = store.around(2.0, reach, never);
  EXPECT_EQ(indices_of(around), (std::vector<std::int64_t>{18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(around.current, 2U);
  EXPECT_EQ(next_of(store), 21);
}

TEST(FrameStoreTest, NeighborsEndWithTheSource) {
  Stored stored;
  FrameStore store = stored.make();
  const Reach reach{.before = 4, .after = 4};
  store.set_reach(reach);
  EXPECT_EQ(next_of(store), 0);
  EXPECT_EQ(indices_of(store.around(0, reach, never)), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  ASSERT_TRUE(store.seek({.time = 3.8, .before = false}, never));
  EXPECT_EQ(next_of(store), 38);
  EXPECT_EQ(indices_of(store.around(3.8, reach, never)), (std::vector<std::int64_t>{34, 35, 36, 37, 38, 39}));
  EXPECT_EQ(next_of(store), 39);
  EXPECT_EQ(next_of(store), -1);
}

TEST(FrameStoreTest, ASourceThatCannotSeekKeepsTheNeighborsOfAFrame) {
  Stored stored;
  stored.can_seek = false;
  FrameStore store = stored.make();
  const Reach reach{.before = 4, .after = 0};
  store.set_reach(reach);
  for (int i = 0; i < 30; ++i) {
    next_of(store);
  }
  EXPECT_EQ(indices_of(store.around(2.5, reach, never)), (std::vector<std::int64_t>{21, 22, 23, 24, 25}));
  EXPECT_TRUE(store.around(0.1, reach, never).frames.empty());
}

TEST(FrameStoreTest, WorkThatIsGivenUpLeavesAStoreThatGoesOn) {
  Stored stored;
  FrameStore store = stored.make();
  int asked = 0;
  EXPECT_FALSE(store.seek({.time = 3, .before = false}, [&] { return ++asked > 2; }));
  ASSERT_TRUE(store.seek({.time = 1, .before = false}, never));
  EXPECT_EQ(next_of(store), 10);
  const Reach reach{.before = 4, .after = 4};
  EXPECT_TRUE(store.around(1, reach, [] { return true; }).frames.empty());
  EXPECT_EQ(next_of(store), 11);
}

}  // namespace
}  // namespace limpid::app
