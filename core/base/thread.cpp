// SPDX-License-Identifier: MIT
#include "core/base/thread.h"

#include <cstddef>
#include <latch>
#include <vector>

namespace limpid {

void require_threads(int count) {
  std::latch end(1);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  try {
    while (static_cast<int>(threads.size()) < count) {
      threads.push_back(start_thread([&end] { end.wait(); }));
    }
  } catch (...) {
    end.count_down();
    throw;
  }
  end.count_down();
}

}  // namespace limpid
