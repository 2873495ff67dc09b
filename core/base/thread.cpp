#include "core/base/thread.h"

#include <cstddef>
#include <latch>
#include <mutex>
#include <vector>

namespace limpid {

void require_threads(int count) {
  static std::mutex mutex;
  static int most = 0;  // that have been started at once
  const std::scoped_lock lock(mutex);
  if (count <= most) {
    return;
  }
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
  most = count;
}

}  // namespace limpid
