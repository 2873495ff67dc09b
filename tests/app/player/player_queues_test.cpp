// SPDX-License-Identifier: MIT
#include "app/player/player_queues.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

TEST(CommandQueueTest, RunsCommandsInOrderUntilItIsClosed) {
  CommandQueue queue;
  std::vector<int> ran;
  queue.post([&] { ran.push_back(1); });
  queue.post([&] {
    ran.push_back(2);
    queue.post([&] { ran.push_back(3); });
  });
  EXPECT_TRUE(queue.run());
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  queue.post([&] { ran.push_back(4); });
  queue.close();
  EXPECT_FALSE(queue.run());
  EXPECT_EQ(ran.size(), 3U);
}

TEST(CommandQueueTest, WaitsUntilSomethingHappens) {
  CommandQueue queue;
  const auto begin = std::chrono::steady_clock::now();
  queue.wait(begin + 20ms);
  EXPECT_GE(std::chrono::steady_clock::now(), begin + 20ms);
  queue.wake();
  queue.wait();  // returns although wake() came first
  const std::jthread other([&] { queue.post([] {}); });
  queue.wait();
  queue.close();
  queue.wait();
}

PlayedFrame decoded_at(double time) {
  PlayedFrame frame;
  frame.time = time;
  return frame;
}

TEST(DecodedFramesTest, IgnoresFramesOfASupersededRequest) {
  std::atomic<std::int64_t> dropped = 0;
  DecodedFrames frames(false, dropped);
  std::stop_source first;
  const std::stop_token second;
  frames.put(first.get_token(), decoded_at(1));
  first.request_stop();
  EXPECT_FALSE(frames.take(first.get_token())) << "superseded between two steps of the other thread";
  frames.begin();
  frames.put(first.get_token(), decoded_at(2));
  frames.end(first.get_token());
  EXPECT_EQ(frames.size(), 0U);
  EXPECT_FALSE(frames.next(second).has_ended);
  frames.put(second, decoded_at(3));
  frames.put(second, decoded_at(4));
  EXPECT_EQ(frames.next(second).time, 3);
  EXPECT_EQ(frames.next(second).successor, 4);
  EXPECT_EQ(frames.take(second)->time, 3);
  EXPECT_FALSE(frames.next(second).is_last());
  frames.end(second);
  EXPECT_TRUE(frames.next(second).is_last());
  EXPECT_EQ(dropped, 0);
}

TEST(DecodedFramesTest, KeepsTheNewestFrameOfALiveSource) {
  std::atomic<std::int64_t> dropped = 0;
  DecodedFrames frames(true, dropped);
  for (const double time : {1.0, 2.0, 3.0}) {
    frames.put({}, decoded_at(time));
  }
  EXPECT_EQ(dropped, 2);
  EXPECT_EQ(frames.take({})->time, 3);
  frames.finish();
  frames.put({}, decoded_at(4));
  EXPECT_EQ(frames.size(), 0U);
  EXPECT_TRUE(frames.next({}).has_ended);
}

const PresentationQueue::Time kQueueStart{100s};

/// A queue for a source of 10 frames per second.
class PresentationQueueTest : public testing::Test {
 protected:
  std::atomic<std::int64_t> dropped = 0;
  int woken = 0;
  int rooms = 0;
  PresentationQueue queue{
      {.live = false, .frames_per_second = 10, .wake = [this] { ++woken; }, .has_room = [this] { ++rooms; }},
      dropped};
  std::stop_source request;

  std::shared_ptr<PlayedFrame> put(double time) {
    auto frame = std::make_shared<PlayedFrame>();
    frame->time = time;
    frame->sent_at = PlayedFrame::Clock::now();
    queue.put(request.get_token(), frame);
    return frame;
  }
  void supersede() {
    request.request_stop();
    queue.begin();
  }
};

TEST_F(PresentationQueueTest, ReturnsEachFrameWhenItIsDue) {
  const auto first = put(0);
  const auto second = put(0.1);
  EXPECT_EQ(woken, 2);
  PresentationQueue::Taken taken = queue.take(kQueueStart);
  EXPECT_EQ(taken.frame, first);
  EXPECT_TRUE(taken.begins);
  EXPECT_EQ(taken.next_at, kQueueStart + 100ms);
  EXPECT_EQ(queue.take(kQueueStart + 99ms).frame, nullptr);
  EXPECT_EQ(queue.take(kQueueStart + 100ms).frame, second);
  EXPECT_EQ(queue.shown(), second);
  EXPECT_EQ(rooms, 2);
}

TEST_F(PresentationQueueTest, DropsFramesWhoseSuccessorsAreDue) {
  put(0);
  queue.take(kQueueStart);
  put(0.1);
  const auto newest = put(0.2);
  EXPECT_EQ(queue.expire(kQueueStart + 150ms), kQueueStart + 200ms);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.expire(kQueueStart + 250ms), std::nullopt);
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(queue.take(kQueueStart + 250ms).frame, newest);
}

TEST_F(PresentationQueueTest, IgnoresWhatBelongsToASupersededRequest) {
  put(0);
  const auto shown = queue.take(kQueueStart).frame;
  put(0.1);
  supersede();
  EXPECT_EQ(queue.size(), 0U);
  put(0.2);
  auto other = std::make_shared<PlayedFrame>();
  queue.put_waiting(request.get_token(), other);
  queue.put_glimpse(request.get_token(), other);
  queue.put_refined(request.get_token(), shown, other);
  queue.end(request.get_token());
  const PresentationQueue::Taken taken = queue.take(kQueueStart + 10s);
  EXPECT_EQ(taken.frame, nullptr);
  EXPECT_EQ(taken.waiting, nullptr);
  EXPECT_EQ(taken.refined, nullptr);
  EXPECT_FALSE(taken.ended);
}

TEST_F(PresentationQueueTest, EndsOnceTheLastFrameHasBeenShownForItsTime) {
  put(0);
  queue.end(request.get_token());
  EXPECT_FALSE(queue.has_nothing_to_come());
  PresentationQueue::Taken taken = queue.take(kQueueStart);
  EXPECT_TRUE(queue.has_nothing_to_come());
  EXPECT_FALSE(taken.ended);
  EXPECT_EQ(taken.next_at, kQueueStart + 100ms);
  EXPECT_TRUE(queue.take(kQueueStart + 100ms).ended);
  queue.wait_for_end();
}

TEST_F(PresentationQueueTest, TheShownFrameIsReplacedByItsRefinement) {
  put(0);
  const auto shown = queue.take(kQueueStart).frame;
  const auto refined = std::make_shared<const PlayedFrame>();
  queue.put_refined({}, refined, refined);
  EXPECT_EQ(queue.take(kQueueStart).refined, nullptr) << "another frame is shown";
  queue.put_refined({}, shown, refined);
  EXPECT_EQ(queue.take(kQueueStart).refined, refined);
  EXPECT_EQ(queue.shown(), refined);
  queue.put_refined({}, refined, shown);
  queue.drop_refined();
  EXPECT_EQ(queue.take(kQueueStart).refined, nullptr);
  EXPECT_FALSE(queue.is_settled(refined));
  queue.put_refined({}, refined, nullptr);
  EXPECT_TRUE(queue.is_settled(refined));
}

TEST_F(PresentationQueueTest, AGlimpseIsShownIfTheSeekTakesLong) {
  put(0);
  queue.take(kQueueStart);
  auto glimpse = std::make_shared<PlayedFrame>();
  glimpse->is_glimpse = true;
  glimpse->sent_at = kQueueStart + 1s;
  queue.put_glimpse({}, glimpse);
  EXPECT_EQ(queue.take(kQueueStart + 1s).next_at, kQueueStart + 1s + PresentationQueue::kLong);
  EXPECT_EQ(queue.take(kQueueStart + 1s + PresentationQueue::kLong).waiting, glimpse);
  EXPECT_EQ(queue.take(kQueueStart + 2s).waiting, nullptr) << "once";
  queue.put_glimpse({}, glimpse);
  queue.drop_glimpse();
  EXPECT_EQ(queue.take(kQueueStart + 3s).waiting, nullptr);
}

TEST_F(PresentationQueueTest, PassesOnTheExceptionOfAThread) {
  queue.fail(std::make_exception_ptr(Error("it broke")));
  EXPECT_THROW(queue.take(kQueueStart), Error);
  EXPECT_THROW(queue.wait_for_end(), Error);
}

}  // namespace
}  // namespace limpid::app
