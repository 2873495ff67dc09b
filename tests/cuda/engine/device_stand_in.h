#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

// A GPU for tests of the engine's host code, on any machine: the functions of the CUDA runtime that this
// calls, in the host's memory, and filters that copy. What is enqueued is done when somebody waits for it,
// and not earlier, so that what doesn't wait is seen.

namespace limpid::cuda::stand_in {

/// What there is of the device's and has not been given back, and how often it was asked for.
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

/// A new device, without anything enqueued.
void reset();

/// Puts something into the device's queue, as a kernel would be.
cudaError_t enqueue(std::function<void()> work);

/// Does all that is enqueued.
void run_all();

enum class Failure { kOfOneCall, kOfTheDevice };
/// After `calls` more calls that enqueue something one fails, or the device: then nothing more is done, and
/// all calls fail but those that give something back.
void fail_after(int calls, Failure failure);

/// The device's primary context: in use by somebody, who has set these flags.
void use_primary_context(unsigned flags);
unsigned primary_context_flags();

}  // namespace limpid::cuda::stand_in
