// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>

#include "core/base/not_copyable.h"

namespace limpid {

/// Shows ThreadSanitizer the order in which oneTBB passes a task from thread to thread. oneTBB keeps that
/// order inside its own library, where ThreadSanitizer does not see it. Costs two uncontended atomic
/// operations per task.
class HandOver : NotCopyable {
 public:
  void begin() const { static_cast<void>(handed_over_.load(std::memory_order_acquire)); }
  void end() { handed_back_.fetch_add(1, std::memory_order_acq_rel); }

  HandOver() { handed_over_.store(true, std::memory_order_release); }
  ~HandOver() { static_cast<void>(handed_back_.load(std::memory_order_acquire)); }

 private:
  std::atomic<bool> handed_over_ = false;
  std::atomic<int> handed_back_ = 0;
};

/// Calls function() in `arena`, on this thread or, if the arena is full, on one of the arena's threads.
/// Returns when the call is done.
template <typename Function>
void run_in(tbb::task_arena& arena, const Function& function) {
  HandOver task;
  arena.execute([&] {
    task.begin();
    function();
    task.end();
  });
}

/// Calls function(i) once for each i from 0 to count - 1, on the threads of the current task arena. Each task
/// covers `grain` successive numbers. Returns when all calls are done.
template <typename Function>
void for_each_index(int count, int grain, const Function& function) {
  HandOver task;
  tbb::parallel_for(
      tbb::blocked_range<int>(0, count, grain),
      [&](const tbb::blocked_range<int>& range) {
        task.begin();
        for (int i = range.begin(); i < range.end(); ++i) {
          function(i);
        }
        task.end();
      },
      tbb::simple_partitioner());
}

}  // namespace limpid
