#include "app/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace limpid::app {
namespace {

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
  std::atomic<int> pushed = 0;
  std::jthread producer([&] {
    for (int i = 0; i < 50; ++i) {
      queue.push(i, kCost);
      ++pushed;
    }
    queue.close();
  });
  for (int popped = 0; popped < 50; ++popped) {
    // The producer may be one ahead of its own count, never more than that beyond the two that fit.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
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
  std::jthread consumer([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  std::jthread producer([&] { EXPECT_FALSE(full.push(1)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  empty.close();
  full.close();
}

TEST(BoundedQueue, SeveralProducersAndConsumersLoseNothing) {
  constexpr int kThreads = 3;
  constexpr int kCount = 3000;
  BoundedQueue<int> queue(5);
  std::atomic<long> sum = 0;
  std::vector<std::jthread> consumers;
  consumers.reserve(kThreads);
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
}  // namespace limpid::app
