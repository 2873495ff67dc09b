// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace limpid {

/// The message when the system cannot start a thread.
inline constexpr const char* kNoMoreThreads =
    "no more threads can be started: the limit on threads (ulimit -u, or a container's) or on memory is "
    "reached";

/// Starts a thread that calls function(), which must not throw. Throws Error if the system cannot start it.
template <typename Function>
std::jthread start_thread(Function function) {
  try {
    return std::jthread(std::move(function));
  } catch (const std::system_error&) {
    throw Error(kNoMoreThreads);
  }
}

/// Throws Error unless the system can start `count` more threads. To be called before libraries that start
/// threads and cannot report a failure: oneTBB ends the process, and x265 hangs.
void require_threads(int count);

}  // namespace limpid
