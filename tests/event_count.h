// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>

namespace limpid::test {

/// A number of events that threads can wait for. In place of std::latch and std::counting_semaphore, which
/// lose wake-ups on Windows (docs/portability.md).
class EventCount {
 public:
  void add() {
    const std::scoped_lock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

}  // namespace limpid::test
