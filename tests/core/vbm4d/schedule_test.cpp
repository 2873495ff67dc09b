// SPDX-License-Identifier: MIT
#include "core/vbm4d/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace limpid::vbm4d {
namespace {

struct Case {
  TemporalSpan span;
  bool has_second_step;
};

// From real parameters (delays of 4, 1 and 0, estimates for fewer frames) and asymmetric ones.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool has_second_step : {false, true}) {
    for (const TemporalSpan& span : {TemporalSpan{0, 0, 0}, TemporalSpan{4, 4, 4}, TemporalSpan{4, 4, 1},
                                     TemporalSpan{4, 0, 0}, TemporalSpan{2, 1, 2}, TemporalSpan{1, 3, 0}}) {
      all.push_back({span, has_second_step});
    }
  }
  return all;
}

// Executes steps on a stream of `count` pictures and checks their inputs.
class Stream {
 public:
  Stream(const Case& of, int count) : case_(of), progress_(count) {}

  void make_result(int current) {
    for (const ScheduledStep& step : schedule(case_.span, case_.has_second_step, current, progress_)) {
      SCOPED_TRACE("work " + std::to_string(static_cast<int>(step.work)) + " of picture " +
                   std::to_string(step.picture) + " for " + std::to_string(current));
      EXPECT_FALSE(progress_[step.picture].has(step.work));
      expect_ready(step, current);
      progress_[step.picture].mark(step.work);
      greatest_ = std::max(greatest_, held());
    }
    EXPECT_TRUE(progress_[current].has(Work::kResult));
  }

  int held() const {
    return static_cast<int>(std::ranges::count_if(progress_, [](const PictureProgress& picture) {
      return picture.has(Work::kLoad) && !picture.has(Work::kRelease);
    }));
  }
  int greatest() const { return greatest_; }
  const PictureProgress& progress(int i) const { return progress_[i]; }

 private:
  void expect_all(Work work, int first, int last) const {
    for (int i = std::max(first, 0); i <= std::min(last, static_cast<int>(progress_.size()) - 1); ++i) {
      EXPECT_TRUE(progress_[i].has(work)) << i;
      EXPECT_FALSE(progress_[i].has(Work::kRelease)) << i;
    }
  }

  void expect_ready(const ScheduledStep& step, int current) const {
    const auto [before, after, spread] = case_.span;
    const int i = step.picture;
    const Work last_groups = case_.has_second_step ? Work::kSecondGroups : Work::kFirstGroups;
    switch (step.work) {
      case Work::kLoad:
        break;
      case Work::kFirstGroups:
        expect_all(Work::kLoad, i - before, i + after);
        break;
      case Work::kBasicEstimate:
        expect_grouped(Work::kFirstGroups, i);
        break;
      case Work::kSecondGroups:
        expect_all(Work::kBasicEstimate, i - before, i + after);
        EXPECT_EQ(step.first_target, current);
        break;
      case Work::kResult:
        expect_grouped(last_groups, i);
        break;
      case Work::kRelease:
        EXPECT_LE(i, current);
        EXPECT_TRUE(i != current || progress_[i].has(Work::kResult));
        break;
    }
  }

  // All groups that give estimates for picture i are filtered, and the picture is still loaded.
  void expect_grouped(Work groups, int i) const {
    EXPECT_FALSE(progress_[i].has(Work::kRelease));
    const auto [before, after, spread] = case_.span;
    for (int r = std::max(i - after, 0); r <= std::min(i + spread, static_cast<int>(progress_.size()) - 1);
         ++r) {
      EXPECT_TRUE(progress_[r].has(groups)) << r;
    }
  }

  Case case_;
  std::vector<PictureProgress> progress_;
  int greatest_ = 0;
};

TEST(ScheduleTest, EachStepOfAStreamHasWhatItNeedsAndIsDoneOnce) {
  constexpr int kCount = 30;
  for (const Case& each : cases()) {
    Stream stream(each, kCount);
    for (int i = 0; i < kCount; ++i) {
      stream.make_result(i);
    }
    for (int i = 0; i < kCount; ++i) {
      EXPECT_TRUE(stream.progress(i).has(Work::kFirstGroups)) << i;
      EXPECT_EQ(stream.progress(i).has(Work::kSecondGroups), each.has_second_step) << i;
    }
    // Only pictures in reach of later pictures' groups are still held.
    EXPECT_EQ(stream.held(), each.span.before - each.span.spread);
  }
}

TEST(ScheduleTest, MemoryDoesNotGrowWithTheStream) {
  for (const Case& each : cases()) {
    Stream shorter(each, 40);
    Stream longer(each, 80);
    for (int i = 0; i < 40; ++i) {
      shorter.make_result(i);
    }
    for (int i = 0; i < 80; ++i) {
      longer.make_result(i);
    }
    EXPECT_EQ(shorter.greatest(), longer.greatest());
  }
}

// Groups of the last step for picture t have references up to t + spread. Before these are filtered, the
// pictures that they reach need basic estimates, whose groups reach equally far again.
TEST(ScheduleTest, NoMorePicturesAreHeldThanTheResultNeeds) {
  for (const Case& each : cases()) {
    Stream stream(each, 40);
    for (int i = 0; i < 40; ++i) {
      stream.make_result(i);
    }
    const auto [before, after, spread] = each.span;
    const int later = (each.has_second_step ? 2 : 1) * (spread + after);
    const int earlier = std::max(before - spread, 0);
    EXPECT_EQ(stream.greatest(), earlier + 1 + later)
        << before << ", " << after << ", " << spread << ", " << each.has_second_step;
  }
}

TEST(ScheduleTest, AResultAtAnyPlaceNeedsNoEarlierResult) {
  for (const Case& each : cases()) {
    for (const int begin : {0, 1, 7, 29}) {
      Stream stream(each, 30);
      for (int i = begin; i < 30; ++i) {
        stream.make_result(i);
      }
    }
  }
}

TEST(ScheduleTest, PicturesOutOfReachAreNotTouched) {
  const TemporalSpan span = {2, 1, 2};
  Stream stream({span, true}, 40);
  stream.make_result(20);
  for (int i = 0; i < 40; ++i) {
    const bool is_in_reach =
        i >= 20 - 2 * (span.after + span.before) && i <= 20 + 2 * (span.spread + span.after);
    EXPECT_EQ(stream.progress(i).has(Work::kLoad), is_in_reach) << i;
  }
}

}  // namespace
}  // namespace limpid::vbm4d
