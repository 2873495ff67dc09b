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

/// Tasks of which some need what others make. Set up once, run any number of times.
class TaskGraph {
 public:
  /// Adds a task that needs no other and returns its number: 0, 1, 2, ... Of several tasks that could start,
  /// the one with the lowest `turn` starts. A task may have a `place`, from 0 to less than 1. Each thread
  /// prefers the tasks of one segment of places, since its cache holds what they work on, and takes other
  /// tasks when it has none there.
  int add(int turn, std::optional<float> place = std::nullopt) {
    tasks_.push_back({turn, place, {}, 0});
    return static_cast<int>(tasks_.size()) - 1;
  }

  /// Has `task` wait for `earlier`.
  void require(int task, int earlier) {
    tasks_[earlier].followers.push_back(task);
    ++tasks_[task].needed;
  }

  /// Calls function(i) once for each task i, on the threads of the current task arena, as soon as all that it
  /// requires are done. Returns when all are. An exception from a task keeps those that have not started from
  /// starting and is thrown on.
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

    // That of two queues whose turn it is.
    static Queue& first(Queue& a, Queue& b) { return b.empty() || (!a.empty() && a.top() < b.top()) ? a : b; }

    // The queue of the tasks that this thread prefers. There may be more threads than when the run began:
    // oneTBB lends an arena of one thread another while somebody waits to get in.
    Queue& own() {
      const auto thread = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
      return owned_[thread % owned_.size()];
    }

    // A task of oneTBB's stands for whichever of ours is first in line when it gets a thread.
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
    std::vector<std::atomic<int>> missing_;  // of those that a task requires
    std::mutex mutex_;
    std::vector<Queue> owned_;  // of tasks that could start: one for each thread, by place
    Queue common_;              // and one for those without a place
    HandOver hand_over_;
    tbb::task_group group_;
  };

  std::vector<Task> tasks_;
};

}  // namespace limpid::cpu
