// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/parallel.h"

namespace limpid::cpu {

/// Tasks with dependencies. Set up once, run any number of times.
class TaskGraph {
 public:
  /// Adds a task without dependencies and returns its number: 0, 1, 2, ... Among tasks that can start, the
  /// one with the lowest `turn` starts first. A task may have a `place`, from 0 to less than 1. Each thread
  /// prefers the tasks of one interval of places, whose data is in its cache, and takes other tasks only if
  /// there are none.
  int add(int turn, std::optional<float> place = std::nullopt) {
    tasks_.push_back({turn, place, {}, 0});
    return static_cast<int>(tasks_.size()) - 1;
  }

  /// Makes `task` wait for `earlier`.
  void require(int task, int earlier) {
    tasks_[earlier].followers.push_back(task);
    ++tasks_[task].needed;
  }

  /// Calls function(i) once for each task i, on the threads of the current task arena, as soon as its
  /// dependencies are done. Returns when all tasks are done. After an exception from a task, no further tasks
  /// start, and the exception is rethrown.
  template <typename Function>
  void run(const Function& function) const {
    Run<Function>(tasks_, function).finish();
  }

 private:
  struct Task {
    int turn = 0;
    std::optional<float> place;
    std::vector<int> followers;
    int needed = 0;
  };

  template <typename Function>
  class Run {
   public:
    Run(const std::vector<Task>& tasks, const Function& function)
        : tasks_(tasks),
          function_(function),
          missing_(tasks.size()),
          owned_(tbb::this_task_arena::max_concurrency()) {
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        missing_[i].store(tasks[i].needed, std::memory_order_relaxed);
      }
    }

    void finish() {
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (tasks_[i].needed == 0) {
          start(static_cast<int>(i));
        }
      }
      group_.wait();
    }

   private:
    using TurnAndTask = std::pair<int, int>;
    using Queue = std::priority_queue<TurnAndTask, std::vector<TurnAndTask>, std::greater<>>;

    // The queue whose first task has the lower turn.
    static Queue& first(Queue& a, Queue& b) { return b.empty() || (!a.empty() && a.top() < b.top()) ? a : b; }

    // The queue of the tasks that this thread prefers. There may be more threads than at the beginning of the
    // run: oneTBB lends an arena of one thread another one while a thread waits to enter.
    Queue& own() {
      const auto thread = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
      return owned_[thread % owned_.size()];
    }

    // A oneTBB task stands for the first task in the queues at the time when it gets a thread.
    void start(int task) {
      {
        const std::scoped_lock lock(mutex_);
        const std::optional<float> place = tasks_[task].place;
        Queue& queue =
            place ? owned_[static_cast<std::size_t>(*place * static_cast<float>(owned_.size()))] : common_;
        queue.emplace(tasks_[task].turn, task);
      }
      group_.run([this] { run_first(); });
    }

    void run_first() {
      hand_over_.begin();
      int task = 0;
      {
        const std::scoped_lock lock(mutex_);
        Queue* queue = &first(own(), common_);
        if (queue->empty()) {
          for (Queue& other : owned_) {
            queue = &first(*queue, other);
          }
        }
        task = queue->top().second;
        queue->pop();
      }
      function_(task);
      for (const int follower : tasks_[task].followers) {
        if (missing_[follower].fetch_sub(1, std::memory_order_acq_rel) == 1) {
          start(follower);
        }
      }
      hand_over_.end();
    }

    const std::vector<Task>& tasks_;
    const Function& function_;
    std::vector<std::atomic<int>> missing_;  // number of unfinished dependencies of each task
    std::mutex mutex_;
    std::vector<Queue> owned_;  // tasks that can start: one queue for each thread, by place
    Queue common_;              // tasks without a place
    HandOver hand_over_;
    tbb::task_group group_;
  };

  std::vector<Task> tasks_;
};

}  // namespace limpid::cpu
