// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "cuda/runtime/runtime.h"

// Kernels for the same computation, for different parameters and devices.

namespace limpid::cuda {

/// An implementation of a stage of a filter. Each stage has a table of variants, the fastest first. The last
/// variant is simple and supports every task. It is the reference for tests and benchmarks.
template <typename Task, typename Run>
struct Variant {
  const char* name;
  /// True if it supports the task on the device.
  bool (*can)(const Task& task, const DeviceLimits& device);
  Run* run;
  /// True if the variant is faster than those after it for a task that it supports; null: always.
  bool (*pays)(const Task& task, const DeviceLimits& device) = nullptr;
};

/// `can` of a reference implementation.
template <typename Task>
bool can_do_any(const Task& /*task*/, const DeviceLimits& /*device*/) {
  return true;
}

/// The first variant in a table that supports a task on a device and is the fastest there.
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
