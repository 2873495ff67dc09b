// SPDX-License-Identifier: MIT
#include "core/base/thread.h"

#include <cstddef>
#include <mutex>
#include <vector>

namespace limpid {

void require_threads(int count) {
  std::mutex end;  // no thread ends before all have started
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  const std::scoped_lock lock(end);
  while (static_cast<int>(threads.size()) < count) {
    threads.push_back(start_thread([&end] { const std::scoped_lock wait(end); }));
  }
}

}  // namespace limpid
