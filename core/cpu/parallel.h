#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>

namespace limpid::cpu {

// TBB hands work over and back in good order by itself, but out of ThreadSanitizer's sight, inside its
// library. The two counters of each function below show it the same order.

/// Calls function() in `arena`, on this thread or, if the arena is full, on one of its own; returns when it
/// is done.
template <typename Function>
void run_in(tbb::task_arena& arena, const Function& function) {
  std::atomic<int> handed_over = 0;
  std::atomic<int> handed_back = 0;
  handed_over.store(1, std::memory_order_release);
  arena.execute([&] {
    static_cast<void>(handed_over.load(std::memory_order_acquire));
    function();
    handed_back.fetch_add(1, std::memory_order_acq_rel);
  });
  static_cast<void>(handed_back.load(std::memory_order_acquire));
}

/// Calls function(i) once for each i from 0 to count - 1, on the threads of the current task arena, `grain`
/// numbers in a row on one thread; returns when all are done.
template <typename Function>
void for_each_index(int count, int grain, const Function& function) {
  std::atomic<int> handed_over = 0;
  std::atomic<int> handed_back = 0;
  handed_over.store(1, std::memory_order_release);
  tbb::parallel_for(
      tbb::blocked_range<int>(0, count, grain),
      [&](const tbb::blocked_range<int>& range) {
        static_cast<void>(handed_over.load(std::memory_order_acquire));
        for (int i = range.begin(); i < range.end(); ++i) {
          function(i);
        }
        handed_back.fetch_add(1, std::memory_order_acq_rel);
      },
      tbb::simple_partitioner());
  static_cast<void>(handed_back.load(std::memory_order_acquire));
}

}  // namespace limpid::cpu
