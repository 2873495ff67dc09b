// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/base/not_copyable.h"
#include "core/base/thread.h"

namespace limpid {

#ifdef _WIN32

/// std::stop_callback for Windows, where the destructor of libstdc++ 12 can wait forever: it loses wake-ups.
/// Calls the function on a thread of its own, within some milliseconds. Throws Error if there are no more
/// threads.
template <typename Function>
class StopCallback : NotCopyable {
 public:
  StopCallback(std::stop_token token, Function function)
      : thread_(start_thread([this, token = std::move(token), function = std::move(function)] {
          std::unique_lock lock(mutex_);
          while (!ended_ && !token.stop_requested()) {
            wake_.wait_for(lock, kPause);
          }
          if (!ended_) {
            lock.unlock();
            function();
          }
        })) {}
  ~StopCallback() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  static constexpr std::chrono::milliseconds kPause{10};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::jthread thread_;
};

#else

template <typename Function>
struct StopCallback : std::stop_callback<Function> {
  using std::stop_callback<Function>::stop_callback;
};
template <typename Function>
StopCallback(std::stop_token, Function) -> StopCallback<Function>;

#endif

}  // namespace limpid
