// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

// A stand-in for a GPU, for tests of the engine's host code on any machine: the CUDA runtime functions that
// it calls, in host memory, and filters that copy. Enqueued work is done only when a caller waits for it, so
// that missing waits are detected.

namespace limpid::cuda::stand_in {

/// Resources of the device that exist, and the number of requests for each.
struct Counts {
  int memory_blocks = 0;
  int pinned_memory = 0;
  int streams = 0;
  int events = 0;
  int device_allocations = 0;
  int pinned_allocations = 0;
  int kernel_queries = 0;
  bool operator==(const Counts&) const = default;
};
Counts counts();

/// A new device with an empty queue.
void reset();

/// Enqueues work, as a kernel launch does.
cudaError_t enqueue(std::function<void()> work);

/// Executes the queue.
void run_all();

enum class Failure { kOfOneCall, kOfTheDevice };
/// After `calls` further calls that enqueue work, one call fails, or the device does: then no more work is
/// done, and all calls fail except those that release resources.
void fail_after(int calls, Failure failure);

/// Marks the device's primary context as in use, with these flags.
void use_primary_context(unsigned flags);
unsigned primary_context_flags();

}  // namespace limpid::cuda::stand_in
