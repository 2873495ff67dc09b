// SPDX-License-Identifier: MIT
#include "core/stream/bounded_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace limpid {
namespace {

template <typename Condition>
void wait_until(const Condition& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up);
    std::this_thread::yield();
  }
}

/// Waits until the thread that sets the flag has most likely begun to wait for the queue, which only
/// Linux shows.
void wait_for(const std::atomic<bool>& begun) {
  wait_until([&] { return begun.load(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST(BoundedQueue, KeepsOrderAcrossThreads) {
  constexpr int kCount = 20000;
  BoundedQueue<int> queue(3);
  std::jthread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      EXPECT_TRUE(queue.push(i));
    }
    queue.close();
  });
  int expected = 0;
  while (const std::optional<int> item = queue.pop()) {
    ASSERT_EQ(*item, expected++);
  }
  EXPECT_EQ(expected, kCount);
}

TEST(BoundedQueue, NeverHoldsMoreThanItsCapacity) {
  constexpr std::size_t kCost = 4;
  BoundedQueue<int> queue(10);  // room for two items of four
  constexpr int kCount = 50;
  std::atomic<int> pushed = 0;
  std::jthread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      queue.push(i, kCost);
      ++pushed;
    }
    queue.close();
  });
  for (int popped = 0; popped < kCount; ++popped) {
    wait_until([&] { return pushed == std::min(popped + 2, kCount); });
    if (popped + 2 <= kCount) {
      EXPECT_FALSE(queue.try_push(kCount, kCost));
    }
    EXPECT_LE(pushed.load(), popped + 2);
    queue.pop();
  }
}

TEST(BoundedQueue, TakesAnItemDearerThanItsCapacityWhenEmpty) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1, 100));
  EXPECT_EQ(queue.pop(), 1);
}

TEST(BoundedQueue, CloseDrains) {
  BoundedQueue<int> queue(4);
  queue.push(1);
  queue.push(2);
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CancelDropsAndReleasesTheItems) {
  BoundedQueue<std::shared_ptr<int>> queue(4);
  auto item = std::make_shared<int>(1);
  queue.push(item);
  queue.cancel();
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_FALSE(queue.push(item));
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesBothSides) {
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  full.push(0);
  std::atomic<bool> consumes = false;
  std::atomic<bool> produces = false;
  std::jthread consumer([&] {
    consumes = true;
    EXPECT_EQ(empty.pop(), std::nullopt);
  });
  std::jthread producer([&] {
    produces = true;
    EXPECT_FALSE(full.push(1));
  });
  wait_for(consumes);
  wait_for(produces);
  empty.close();
  full.close();
}

TEST(BoundedQueue, WaitsForAnItemUnlessThereIsSomethingElseToDo) {
  BoundedQueue<int> queue(2);
  std::atomic<bool> enough = true;
  const auto is_enough = [&] { return enough.load(); };
  EXPECT_EQ(queue.pop_unless(is_enough), std::nullopt);
  queue.push(1);
  EXPECT_EQ(queue.pop_unless(is_enough), 1);
  for (const bool item_comes : {true, false}) {
    enough = false;
    std::atomic<bool> consumes = false;
    std::optional<int> popped;
    std::jthread consumer([&] {
      consumes = true;
      popped = queue.pop_unless(is_enough);
    });
    wait_for(consumes);
    if (item_comes) {
      queue.push(2);
    } else {
      enough = true;
      queue.wake();
    }
    consumer.join();
    EXPECT_EQ(popped, item_comes ? std::optional(2) : std::nullopt);
  }
}

TEST(BoundedQueue, SeveralProducersAndConsumersLoseNothing) {
  constexpr int kThreads = 3;
  constexpr int kCount = 3000;
  BoundedQueue<int> queue(5);
  std::atomic<long> sum = 0;
  std::vector<std::jthread> consumers;
  consumers.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    consumers.emplace_back([&] {
      while (const std::optional<int> item = queue.pop()) {
        sum += *item;
      }
    });
  }
  {
    std::vector<std::jthread> producers;
    producers.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      producers.emplace_back([&] {
        for (int value = 1; value <= kCount; ++value) {
          queue.push(value);
        }
      });
    }
  }
  queue.close();
  consumers.clear();
  EXPECT_EQ(sum.load(), long{kThreads} * kCount * (kCount + 1) / 2);
}

}  // namespace
}  // namespace limpid
