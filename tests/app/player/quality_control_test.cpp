// SPDX-License-Identifier: MIT
#include "app/player/quality_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace limpid::app {
namespace {

using namespace std::chrono_literals;
using Time = QualityControl::Time;
using Seconds = QualityControl::Seconds;

/// A machine on a virtual clock that denoises a frame in `times` of its rung, each as soon as it is there.
class Machine {
 public:
  std::vector<double> times{0.002, 0.01, 0.02, 0.05, 0.3};
  double interval = 0.04;
  std::size_t first = 1;

  explicit Machine(std::vector<QualityControl::Speed> speeds = {{0.3}, {1}, {1.5}, {2}, {7}})
      : speeds_(std::move(speeds)) {}

  /// Plays for so many seconds.
  void play(double seconds) {
    if (!control_) {
      control_.emplace(speeds_, first, Seconds(interval), time_of(now_));
    }
    const double end = now_ + seconds;
    while (now_ < end) {
      if (control_->next_rung()) {
        control_->take_step(time_of(now_));
        changes.push_back(now_);
      }
      const double busy = times[control_->rung()];
      const double due = now_ + interval;
      now_ += busy;
      bool changed = control_->add(Seconds(busy), Seconds(interval), time_of(now_));
      for (backlog_ = std::max(backlog_ + now_ - due, 0.0); backlog_ >= interval; backlog_ -= interval) {
        ++dropped;
        changed = control_->add_dropped(Seconds(interval), time_of(now_)) || changed;
      }
      if (changed) {
        changes.push_back(now_);
      }
      now_ = std::max(now_, due);
    }
  }
  void restart() { control_->restart(first, time_of(now_)); }
  double now() const { return now_; }
  std::size_t rung() const { return control_->rung(); }
  QualityControl& control() { return *control_; }

  std::vector<double> changes;  ///< when the rung changed
  int dropped = 0;

 private:
  static Time time_of(double seconds) {
    return Time(std::chrono::duration_cast<Time::duration>(Seconds(100 + seconds)));
  }
  std::vector<QualityControl::Speed> speeds_;
  std::optional<QualityControl> control_;
  double now_ = 0;
  double backlog_ = 0;
};

TEST(QualityControlTest, FindsTheBestRungThatKeepsPaceAndStays) {
  Machine machine;
  machine.play(5);
  EXPECT_EQ(machine.rung(), 2U);
  const std::size_t changes = machine.changes.size();
  machine.play(4);
  EXPECT_EQ(machine.changes.size(), changes);
}

TEST(QualityControlTest, StepsDownWithinHalfASecondOfOverload) {
  Machine machine;
  machine.play(5);
  ASSERT_EQ(machine.rung(), 2U);
  machine.times = {0.004, 0.03, 0.06, 0.15, 0.9};  // another program begins
  const double begin = machine.now();
  const std::size_t changes = machine.changes.size();
  machine.play(1);
  ASSERT_GT(machine.changes.size(), changes);
  EXPECT_LE(machine.changes[changes] - begin, 0.5);
  EXPECT_EQ(machine.rung(), 1U);
}

TEST(QualityControlTest, StepsDownSeveralRungsAtOnceWhereItKnowsThatItMust) {
  Machine machine;
  machine.play(5);
  ASSERT_EQ(machine.rung(), 2U);
  machine.times = {0.02, 0.2, 0.4, 1, 6};
  machine.play(2);
  EXPECT_EQ(machine.rung(), 0U);
}

TEST(QualityControlTest, StepsUpAfterSecondsOfRoom) {
  Machine machine;
  machine.times = {0.02, 0.2, 0.4, 1, 6};
  machine.play(3);
  ASSERT_EQ(machine.rung(), 0U);
  machine.times = {0.0001, 0.001, 0.002, 0.003, 0.02};
  machine.play(2);
  EXPECT_EQ(machine.rung(), 0U) << "not at once";
  machine.play(60);
  EXPECT_EQ(machine.rung(), 4U);
}

TEST(QualityControlTest, ARungThatFailedIsTriedLessAndLessOften) {
  Machine machine;
  machine.times = {0.002, 0.01, 0.012, 0.05, 0.3};  // rung 3 is much slower than expected
  machine.play(200);
  EXPECT_EQ(machine.rung(), 2U);
  EXPECT_LE(machine.changes.size(), 12U);
  EXPECT_LE(machine.dropped, 30);
}

TEST(QualityControlTest, DoesNotTryARungThatIsExpectedToFail) {
  Machine machine;
  machine.times = {0.002, 0.01, 0.015, 0.022, 0.3};  // rung 4 is expected to take 0.077
  machine.play(60);
  EXPECT_EQ(machine.rung(), 3U);
  EXPECT_EQ(machine.dropped, 0);
}

TEST(QualityControlTest, OneSlowFrameChangesNothing) {
  Machine machine;
  machine.play(5);
  const std::size_t changes = machine.changes.size();
  const Time now{105s};
  EXPECT_FALSE(machine.control().add(Seconds(0.25), Seconds(0.04), now));
  EXPECT_FALSE(machine.control().add(Seconds(0.02), Seconds(0.04), now + 40ms));
  EXPECT_FALSE(machine.control().add(Seconds(0.02), Seconds(0.04), now + 80ms));
  machine.play(1);
  EXPECT_EQ(machine.changes.size(), changes);
}

TEST(QualityControlTest, OneSlowFrameInThreeIsNoOverload) {
  QualityControl control({{0.3}, {1}, {1.5}, {2}, {7}}, 2, Seconds(0.04), Time(100s));
  auto now = Time(100s);
  for (int i = 0; i < 60; ++i) {
    const auto busy = i % 3 == 0 ? 60ms : 10ms;
    now += std::max<std::chrono::milliseconds>(busy, 40ms);
    EXPECT_FALSE(control.add(busy, Seconds(0.04), now)) << i;
  }
  EXPECT_EQ(control.rung(), 2U);
}

TEST(QualityControlTest, OneSlowFrameASecondDoesNotKeepItFromStepsUp) {
  QualityControl control({{0.3}, {1}, {1.5}, {2}, {7}}, 2, Seconds(0.04), Time(100s));
  auto now = Time(100s);
  for (int i = 0; i < 75 && !control.next_rung(); ++i) {
    now += 60ms;
    EXPECT_FALSE(control.add(i % 15 == 14 ? 60ms : 16ms, Seconds(0.04), now));
  }
  EXPECT_EQ(control.next_rung(), 3U);
}

TEST(QualityControlTest, ASlowStartOfTheEngineIsNoOverload) {
  QualityControl control({{0.3}, {1}, {1.5}, {2}, {7}}, 2, Seconds(0.04), Time(100s));
  auto now = Time(100s);
  for (const auto busy : {500ms, 60ms, 45ms, 3ms, 3ms, 3ms}) {
    now += busy;
    EXPECT_FALSE(control.add(busy, Seconds(0.04), now));
  }
  for (int i = 0; i < 15; ++i) {  // dropped until the clock has been caught up with
    now += 30ms;
    EXPECT_FALSE(control.add_dropped(Seconds(0.04), now));
    EXPECT_FALSE(control.add(3ms, Seconds(0.04), now));
  }
  EXPECT_EQ(control.rung(), 2U);
}

TEST(QualityControlTest, BeginsAnewNoHigherThanItWas) {
  Machine machine;
  machine.play(5);
  ASSERT_EQ(machine.rung(), 2U);
  machine.control().restart(1, Time(300s));
  EXPECT_EQ(machine.rung(), 1U);
  machine.control().restart(2, Time(300s));
  EXPECT_EQ(machine.rung(), 1U);
}

TEST(QualityControlTest, ReturnsToTheRungOfBeforeSoonAfterARestart) {
  Machine machine;
  machine.times = {0.001, 0.002, 0.003, 0.004, 0.01};
  machine.play(20);
  ASSERT_EQ(machine.rung(), 4U);
  machine.restart();
  EXPECT_EQ(machine.rung(), 1U);
  machine.play(0.5);
  EXPECT_EQ(machine.rung(), 4U);
}

TEST(QualityControlTest, BeginsWithTheBestRungThatIsKnownToKeepPace) {
  Machine machine({{0.3, 0.002}, {1, 0.01}, {1.5, 0.02}, {2, 0.05}, {7, 0.3}});
  machine.play(0.1);
  EXPECT_EQ(machine.rung(), 2U);
  machine.play(9);
  EXPECT_EQ(machine.rung(), 2U);
  EXPECT_EQ(machine.dropped, 0) << "rungs that are known to be too slow are not tried";
}

TEST(QualityControlTest, BeginsWithARungThatHasKeptPaceWithLittleToSpare) {
  Machine machine({{0.3, 0.002}, {1, 0.01}, {1.5, 0.02}, {2, 0.022}, {7, 0.032}});
  machine.times = {0.002, 0.01, 0.02, 0.022, 0.032};
  machine.play(5);
  EXPECT_EQ(machine.rung(), 4U);
  EXPECT_TRUE(machine.changes.empty());
}

TEST(QualityControlTest, BeginsLowerThanUsualWhereTheFirstRungIsKnownToBeTooSlow) {
  Machine machine({{0.3, 0.02}, {1, 0.2}, {1.5, 0.4}, {2}, {7}});
  machine.times = {0.02, 0.2, 0.4, 1, 6};
  machine.play(1);
  EXPECT_EQ(machine.rung(), 0U);
  EXPECT_EQ(machine.dropped, 0);
}

TEST(QualityControlTest, TimesThatAreKnownFromALoadedMachineAreCorrected) {
  Machine machine({{0.3, 0.04}, {1, 0.2}, {1.5, 0.4}, {2, 1}, {7, 6}});
  machine.times = {0.0004, 0.002, 0.003, 0.004, 0.014};
  machine.play(60);
  EXPECT_EQ(machine.rung(), 4U);
  EXPECT_EQ(machine.dropped, 0);
}

TEST(QualityControlTest, ARungOfWhichTooMuchWasExpectedIsLeft) {
  Machine machine({{0.3}, {1}, {1.5}, {2, 0.001}, {7, 0.002}});
  machine.play(3);
  EXPECT_EQ(machine.rung(), 2U);
}

TEST(QualityControlTest, StepsOverRungsWhereThereIsMuchRoom) {
  Machine machine;
  machine.times = {0.0001, 0.0005, 0.001, 0.002, 0.004};
  machine.play(1);
  EXPECT_EQ(machine.rung(), 4U);
  EXPECT_EQ(machine.changes.size(), 1U);
}

TEST(QualityControlTest, ARungThatFailsIsNotReturnedTo) {
  Machine machine;
  machine.times = {0.001, 0.002, 0.003, 0.004, 0.01};
  machine.play(20);
  machine.times[4] = 0.1;
  machine.play(2);
  ASSERT_LT(machine.rung(), 4U);
  machine.restart();
  machine.play(0.5);
  EXPECT_LT(machine.rung(), 4U);
}

}  // namespace
}  // namespace limpid::app
