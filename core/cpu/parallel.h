#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace limpid::cpu {

/// Calls function(i) once for each i from 0 to count - 1, on the threads of the current task arena, `grain`
/// numbers in a row on one thread; returns when all are done.
template <typename Function>
void for_each_index(int count, int grain, const Function& function) {
  tbb::parallel_for(
      tbb::blocked_range<int>(0, count, grain),
      [&](const tbb::blocked_range<int>& range) {
        for (int i = range.begin(); i < range.end(); ++i) {
          function(i);
        }
      },
      tbb::simple_partitioner());
}

}  // namespace limpid::cpu
