// SPDX-License-Identifier: MIT
#include "cpu/runtime/task_graph.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <array>
#include <atomic>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/parallel.h"

namespace limpid::cpu {
namespace {

TEST(TaskGraph, RunsEachTaskOnceAfterAllThatItRequires) {
  constexpr int kTasks = 500;
  // By default, oneTBB starts at most as many threads as the machine has processors.
  const tbb::global_control threads_allowed(tbb::global_control::max_allowed_parallelism, 4);
  TaskGraph graph;
  std::vector<std::vector<int>> required(kTasks);
  std::mt19937 random(1);
  for (int i = 0; i < kTasks; ++i) {
    graph.add(kTasks - i, i % 3 == 0 ? std::nullopt : std::optional(static_cast<float>(i % 100) / 100));
    for (int n = i > 0 ? static_cast<int>(random() % 4) : 0; n > 0; --n) {
      required[i].push_back(static_cast<int>(random() % i));
      graph.require(i, required[i].back());
    }
  }
  for (const int threads : {1, 4}) {
    tbb::task_arena arena(threads);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::vector<std::atomic<int>> runs(kTasks);
      std::atomic<int> too_early = 0;
      run_in(arena, [&] {
        graph.run([&](int i) {
          for (const int earlier : required[i]) {
            too_early += runs[earlier] == 1 ? 0 : 1;
          }
          ++runs[i];
        });
      });
      EXPECT_EQ(too_early, 0);
      for (int i = 0; i < kTasks; ++i) {
        EXPECT_EQ(runs[i], 1) << i;
      }
    }
  }
}

// An arena of one thread has a second one while a thread of the host waits to enter.
TEST(TaskGraph, SeveralThreadsOfTheHostMayShareAnArena) {
  constexpr int kTasks = 40;
  constexpr int kRuns = 60;
  const tbb::global_control threads_allowed(tbb::global_control::max_allowed_parallelism, 4);
  TaskGraph graph;
  for (int i = 0; i < kTasks; ++i) {
    graph.add(i, static_cast<float>(i) / kTasks);
    if (i >= 8) {
      graph.require(i, i - 8);
    }
  }
  for (const int size : {1, 2}) {
    tbb::task_arena arena(size);
    std::array<std::atomic<int>, 3> runs{};
    std::vector<std::thread> hosts;
    for (std::atomic<int>& count : runs) {
      hosts.emplace_back([&] {
        for (int run = 0; run < kRuns; ++run) {
          run_in(arena, [&] {
            graph.run([&](int) {
              ++count;
              std::this_thread::yield();
            });
          });
        }
      });
    }
    for (std::thread& host : hosts) {
      host.join();
    }
    for (const std::atomic<int>& count : runs) {
      EXPECT_EQ(count, kRuns * kTasks);
    }
  }
}

TEST(TaskGraph, ReadyTasksStartInOrderOfTheirTurns) {
  TaskGraph graph;
  graph.add(5);
  graph.add(1, 0.9F);
  graph.add(3);
  graph.add(2, 0.1F);
  graph.add(4);
  graph.require(1, 4);
  std::vector<int> order;
  tbb::task_arena arena(1);
  run_in(arena, [&] { graph.run([&](int i) { order.push_back(i); }); });
  EXPECT_EQ(order, (std::vector{3, 2, 4, 1, 0}));
}

TEST(TaskGraph, ThrowsOnWhatATaskThrowsAndRunsAgain) {
  TaskGraph graph;
  graph.add(0);
  graph.add(1, 0.5F);
  graph.require(1, 0);
  for (const bool failing : {true, false}) {
    std::atomic<bool> follower_ran = false;
    const auto run = [&] {
      graph.run([&](int i) {
        if (failing && i == 0) {
          throw std::runtime_error("no memory");
        }
        follower_ran = follower_ran || i == 1;
      });
    };
    if (failing) {
      EXPECT_THROW(run(), std::runtime_error);
    } else {
      run();
    }
    EXPECT_EQ(follower_ran, !failing);
  }
}

TEST(TaskGraph, EmptyGraphReturnsAtOnce) {
  const TaskGraph graph;
  graph.run([](int) { FAIL(); });
}

}  // namespace
}  // namespace limpid::cpu
