// SPDX-License-Identifier: MIT
// The frames that temporal filters receive, and how long they are kept.
#include "core/engine/frame_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace limpid {
namespace {

struct Sent {
  bool begins_anew = false;
  bool context_only = false;
};

// A window as text: "3 4 [5] 6".
std::string text_of(const FrameRing<int>::Window& window) {
  std::string text;
  for (std::size_t i = 0; i < window.frames.size(); ++i) {
    const std::string frame = std::to_string(*window.frames[i]);
    text += (i > 0 ? " " : "") + (i == window.current ? "[" + frame + "]" : frame);
  }
  return text;
}

// By the definition, from all frames.
std::vector<std::string> expected_windows(const Reach& reach, const std::vector<Sent>& frames) {
  std::vector<std::string> windows;
  const int count = static_cast<int>(frames.size());
  for (int i = 0; i < count; ++i) {
    if (frames[i].context_only) {
      continue;
    }
    std::string before;
    for (int j = i; j > std::max(i - reach.before, 0) && !frames[j].begins_anew; --j) {
      before = std::to_string(j - 1) + " " + before;
    }
    std::string after;
    for (int j = i + 1; j <= std::min(i + reach.after, count - 1) && !frames[j].begins_anew; ++j) {
      after += " " + std::to_string(j);
    }
    windows.push_back(before + "[" + std::to_string(i) + "]" + after);
  }
  return windows;
}

// The windows of a ring for a sequence of frames. The ring keeps no more frames than necessary.
std::vector<std::string> windows_of(FrameRing<int>& ring, const Reach& reach,
                                    const std::vector<Sent>& frames) {
  std::vector<std::string> windows;
  std::vector<int> retired;
  const auto retire = [&](int frame) { retired.push_back(frame); };
  const auto take_all = [&] {
    while (ring.has_next()) {
      windows.push_back(text_of(ring.next()));
      ring.retire(retire);
    }
  };
  for (int i = 0; i < static_cast<int>(frames.size()); ++i) {
    ring.push(i, frames[i].begins_anew, frames[i].context_only);
    take_all();
    ring.retire(retire);
    EXPECT_LE(i + 1 - static_cast<int>(retired.size()), reach.before + reach.after) << "frame " << i;
  }
  ring.end();
  take_all();
  ring.retire(retire);
  EXPECT_EQ(retired.size(), frames.size());
  EXPECT_TRUE(std::is_sorted(retired.begin(), retired.end()));
  EXPECT_FALSE(ring.has_next());
  return windows;
}

TEST(FrameRing, GivesEveryFrameThoseAroundIt) {
  FrameRing<int> ring({.before = 2, .after = 1});
  EXPECT_EQ(windows_of(ring, {2, 1}, std::vector<Sent>(5)),
            (std::vector<std::string>{"[0] 1", "0 [1] 2", "0 1 [2] 3", "1 2 [3] 4", "2 3 [4]"}));
}

TEST(FrameRing, DoesNotReachOverACut) {
  FrameRing<int> ring({.before = 1, .after = 2});
  EXPECT_EQ(windows_of(ring, {1, 2}, {{}, {}, {}, {.begins_anew = true}, {}}),
            (std::vector<std::string>{"[0] 1 2", "0 [1] 2", "1 [2]", "[3] 4", "3 [4]"}));
}

TEST(FrameRing, ACutShowsAtOnceThatNoMoreComes) {
  FrameRing<int> ring({.before = 0, .after = 3});
  ring.push(0, false, false);
  EXPECT_FALSE(ring.has_next());
  ring.push(1, true, false);
  ASSERT_TRUE(ring.has_next());
  EXPECT_EQ(text_of(ring.next()), "[0]");
  EXPECT_FALSE(ring.has_next());
}

TEST(FrameRing, UnboundedReachGivesSingleFramesIncludingContext) {
  FrameRing<int> ring({.before = 12, .after = 0, .unbounded = true});
  int retired = 0;
  for (int i = 0; i < 30; ++i) {
    ring.push(i, i == 9, i % 3 == 0);
    ASSERT_TRUE(ring.has_next());
    const auto window = ring.next();
    EXPECT_EQ(text_of(window), "[" + std::to_string(i) + "]");
    EXPECT_EQ(window.wanted, i % 3 != 0) << i;
    EXPECT_FALSE(ring.has_next());
    ring.retire([&](int frame) { EXPECT_EQ(frame, retired++); });
    EXPECT_EQ(retired, i + 1) << "nothing is kept";
  }
}

TEST(FrameRing, AgreesWithTheDefinitionWhateverIsSent) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const Reach reach{static_cast<int>(random() % 5), static_cast<int>(random() % 5)};
    std::vector<Sent> frames(random() % 14);
    for (Sent& frame : frames) {
      frame = {random() % 6 == 0, random() % 3 == 0};
    }
    FrameRing<int> ring(reach);
    SCOPED_TRACE("trial " + std::to_string(trial));
    EXPECT_EQ(windows_of(ring, reach, frames), expected_windows(reach, frames));
    // After reset(), with any previous content.
    ring.push(0, false, false);
    int let_go = 0;
    ring.reset([&](int) { ++let_go; });
    EXPECT_EQ(let_go, 1);
    EXPECT_EQ(windows_of(ring, reach, frames), expected_windows(reach, frames));
    if (HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace limpid
