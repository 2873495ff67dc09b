// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace limpid::cpu {

/// Memory that is aligned for vector loads and stores.
template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  AlignedAllocator() = default;
  template <typename U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kAlignment); }
  bool operator==(const AlignedAllocator& /*other*/) const { return true; }
};
template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace limpid::cpu
