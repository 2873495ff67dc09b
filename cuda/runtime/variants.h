#pragma once

#include <span>

#include "cuda/runtime/runtime.h"

// Kernels that compute the same thing, for different parameters and devices.

namespace limpid::cuda {

/// One way to do a stage of a filter. A stage has a table of them, the fastest first. The last one is plain
/// and does any task: it is the reference that tests and benchmarks compare the others with.
template <typename Task, typename Run>
struct Variant {
  const char* name;
  /// Its domain: whether it can do the task on such a device.
  bool (*can)(const Task& task, const DeviceLimits& device);
  Run* run;
  /// Whether it is then faster than those behind it; if null, always.
  bool (*pays)(const Task& task, const DeviceLimits& device) = nullptr;
};

/// Of a reference.
template <typename Task>
bool can_do_any(const Task& /*task*/, const DeviceLimits& /*device*/) {
  return true;
}

/// The variant of a table that does a task on a device.
template <typename AVariant, typename Task>
const AVariant& choose(std::span<const AVariant> table, const Task& task, const DeviceLimits& device) {
  for (const AVariant& variant : table) {
    if (variant.can(task, device) && (variant.pays == nullptr || variant.pays(task, device))) {
      return variant;
    }
  }
  return table.back();
}

}  // namespace limpid::cuda
