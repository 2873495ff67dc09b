// SPDX-License-Identifier: MIT
// Distribution of a stream's frames among the workers of a group.
#include "core/engine/segment_dealer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace limpid {
namespace {

using Dealt = SegmentDealer::Dealt;

// Workers that take a frame in turn.
class Workers {
 public:
  Workers(std::size_t count, Reach reach, std::int64_t ahead) : dealer(count, reach, ahead), all(count) {}

  // True if there was a frame for the worker.
  bool take(std::size_t worker) {
    const std::int64_t needed = dealer.first_needed();
    const std::optional<Dealt> dealt = dealer.next(worker);
    if (dealt) {
      EXPECT_GE(dealt->frame, needed);
      all[worker].push_back(*dealt);
    }
    return dealt.has_value();
  }

  SegmentDealer dealer;
  std::vector<std::vector<Dealt>> all;
};

// Each frame has a result from exactly one worker, which gets its complete context, in order, and no other
// frames in between.
void expect_each_frame_once(const Workers& workers, Reach reach, std::int64_t count) {
  std::vector<int> results(static_cast<std::size_t>(count));
  for (const std::vector<Dealt>& dealt : workers.all) {
    for (std::size_t i = 0; i < dealt.size(); ++i) {
      ASSERT_LT(dealt[i].frame, count);
      if (i == 0) {
        ASSERT_TRUE(dealt[i].begins);
      } else if (!dealt[i].begins) {
        ASSERT_EQ(dealt[i].frame, dealt[i - 1].frame + 1);
      }
      if (!dealt[i].wanted) {
        continue;
      }
      ++results[static_cast<std::size_t>(dealt[i].frame)];
      std::size_t first = i;
      while (!dealt[first].begins) {
        --first;
      }
      std::size_t last = i;
      while (last + 1 < dealt.size() && !dealt[last + 1].begins) {
        ++last;
      }
      ASSERT_LE(dealt[first].frame, std::max<std::int64_t>(dealt[i].frame - reach.before, 0));
      ASSERT_GE(dealt[last].frame, std::min(dealt[i].frame + reach.after, count - 1));
    }
  }
  ASSERT_EQ(results, std::vector<int>(results.size(), 1));
}

std::int64_t results_of(const std::vector<Dealt>& dealt) {
  return std::ranges::count(dealt, true, &Dealt::wanted);
}

TEST(SegmentDealer, EachFrameHasOneResultWithAllOfItsContext) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t count = 1 + random() % 4;
    const Reach reach{static_cast<int>(random() % 4), static_cast<int>(random() % 4)};
    const auto frames = static_cast<std::int64_t>(random() % 150);
    SCOPED_TRACE(std::to_string(count) + " workers, " + std::to_string(frames) + " frames, reach " +
                 std::to_string(reach.before) + "," + std::to_string(reach.after));
    Workers workers(count, reach, static_cast<std::int64_t>(random() % 30));
    for (int stream = 0; stream < 2; ++stream) {
      const unsigned speed = 1 + random() % 8;  // of the workers, relative to the source
      for (std::int64_t i = 0; i < frames; ++i) {
        workers.dealer.add();
        for (unsigned turn = 0; turn < random() % speed; ++turn) {
          workers.take(random() % count);
        }
      }
      workers.dealer.end();
      std::vector<std::size_t> order;
      for (std::size_t worker = 0; worker < count; ++worker) {
        order.insert(order.end(), 1 + random() % 5, worker);  // some are slow
      }
      for (bool more = true; more;) {
        more = false;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t worker : order) {
          more |= workers.take(worker);
        }
      }
      EXPECT_EQ(workers.dealer.first_needed(), frames);
      expect_each_frame_once(workers, reach, frames);
      if (testing::Test::HasFailure()) {
        return;
      }
      workers.dealer.reset();
      workers.all.assign(count, {});
    }
  }
}

// A long stream, with a distance that makes context a tenth of a segment: the workers spend no more on
// context, and finish at the same time.
TEST(SegmentDealer, SharesTheWorkWithLittleContext) {
  constexpr Reach kReach{16, 16};
  for (const std::int64_t count : {2, 4, 8}) {
    const std::int64_t ahead = 320 * (count - 1) / count;
    Workers workers(static_cast<std::size_t>(count), kReach, ahead);
    const std::int64_t frames = 4000 * count;
    std::int64_t turns = 0;
    std::int64_t sent = 0;
    for (bool more = true; more; ++turns) {
      while (sent < frames && sent < workers.dealer.first_needed() + count * ahead) {
        workers.dealer.add();
        ++sent;
      }
      if (sent == frames) {
        workers.dealer.end();
      }
      more = false;
      for (std::int64_t worker = 0; worker < count; ++worker) {
        more |= workers.take(static_cast<std::size_t>(worker));
      }
    }
    expect_each_frame_once(workers, kReach, frames);
    EXPECT_LE(static_cast<double>(turns * count), 1.13 * static_cast<double>(frames)) << count;
    for (const auto& dealt : workers.all) {
      EXPECT_NEAR(static_cast<double>(results_of(dealt)), 4000, 100) << count;
    }
  }
}

// The time that two workers need for each frame of a source with one frame every `interval`, in units of a
// worker's time for a result. Context takes a third of that.
double time_of_two(double interval, std::int64_t frames) {
  constexpr Reach kReach{16, 16};
  constexpr std::int64_t kAhead = 320;
  constexpr int kTicks = 3;  // per result
  Workers workers(2, kReach, kAhead);
  std::array<int, 2> busy{};
  std::int64_t ticks = 0;
  double next = 0;
  for (bool more = true; more; ++ticks) {
    const auto now = static_cast<double>(ticks) / kTicks;
    while (workers.dealer.count() < frames && now >= next &&
           workers.dealer.count() < workers.dealer.first_needed() + 2 * kAhead) {
      workers.dealer.add();
      next = std::max(next + interval, now - 1);
    }
    more = workers.dealer.count() < frames;
    if (!more) {
      workers.dealer.end();
    }
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (busy[i] == 0 && workers.take(i)) {
        busy[i] = workers.all[i].back().wanted ? kTicks : 1;
      }
      more |= busy[i] > 0;
      busy[i] = std::max(busy[i] - 1, 0);
    }
  }
  expect_each_frame_once(workers, kReach, frames);
  return static_cast<double>(ticks) / static_cast<double>(kTicks * frames);
}

// With a source that is little faster than the workers, no worker waits until another's whole segment has
// arrived.
TEST(SegmentDealer, SegmentsAreAsLongAsWhatHasCome) {
  constexpr std::int64_t kFrames = 2400;
  EXPECT_LE(time_of_two(0.01, kFrames), 0.52);
  EXPECT_LE(time_of_two(0.45, kFrames), 0.54);
  EXPECT_LE(time_of_two(0.6, kFrames), 0.62);
}

TEST(SegmentDealer, DealsFramesWithoutReachInTurn) {
  Workers workers(3, {}, 0);
  for (int i = 0; i < 30; ++i) {
    workers.dealer.add();
  }
  workers.dealer.end();
  for (int round = 0; round < 10; ++round) {
    for (std::size_t worker = 0; worker < 3; ++worker) {
      workers.take(worker);
    }
  }
  for (const auto& dealt : workers.all) {
    EXPECT_EQ(results_of(dealt), 10);
  }
}

// A source as slow as a camera: each frame is dealt as soon as it arrives.
TEST(SegmentDealer, NoFrameWaitsForTheNext) {
  Workers workers(2, {2, 0}, 5);
  for (std::int64_t i = 0; i < 100; ++i) {
    workers.dealer.add();
    while (workers.take(0) || workers.take(1)) {
    }
    std::int64_t results = 0;
    for (const auto& dealt : workers.all) {
      results += results_of(dealt);
    }
    EXPECT_EQ(results, i + 1);
  }
}

TEST(SegmentDealer, TellsWhoHasHadTheLastFrame) {
  Workers workers(2, {1, 1}, 4);
  for (int i = 0; i < 40; ++i) {
    workers.dealer.add();
    workers.take(0);
    workers.take(1);
    EXPECT_FALSE(workers.dealer.has_had_the_last(0) || workers.dealer.has_had_the_last(1));
  }
  workers.dealer.end();
  while (workers.take(0) || workers.take(1)) {
  }
  EXPECT_TRUE(workers.dealer.has_had_the_last(0) || workers.dealer.has_had_the_last(1));
}

}  // namespace
}  // namespace limpid
