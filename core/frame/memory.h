// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace limpid {

enum class MemoryKind : std::uint8_t { kHost, kCuda };

/// The memory that holds samples: the host's or a device's.
struct MemoryDomain {
  MemoryKind kind = MemoryKind::kHost;
  int ordinal = 0;  ///< device number of its runtime; 0 for the host

  bool operator==(const MemoryDomain&) const = default;
  bool is_host() const { return kind == MemoryKind::kHost; }
};

inline constexpr MemoryDomain kHostMemory{};
constexpr MemoryDomain cuda_memory(int ordinal) { return {MemoryKind::kCuda, ordinal}; }

/// "the host's memory", "the memory of GPU 1".
inline std::string to_string(const MemoryDomain& memory) {
  return memory.is_host() ? "the host's memory" : "the memory of GPU " + std::to_string(memory.ordinal);
}

}  // namespace limpid
