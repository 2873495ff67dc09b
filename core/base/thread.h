#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace limpid {

/// The sentence for a thread that the system refuses to start.
inline constexpr const char* kNoMoreThreads =
    "no more threads can be started: the limit on threads (ulimit -u, or a container's) or on memory is "
    "reached";

/// Starts a thread that calls function(), which must not throw. Throws Error if the system refuses.
template <typename Function>
std::jthread start_thread(Function function) {
  try {
    return std::jthread(std::move(function));
  } catch (const std::system_error&) {
    throw Error(kNoMoreThreads);
  }
}

/// Throws Error if the system refuses `count` threads at once. For libraries that start threads where they
/// cannot report a failure: oneTBB ends the process then, and x265 waits for ever.
void require_threads(int count);

}  // namespace limpid
