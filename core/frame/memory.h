#pragma once

#include <cstdint>
#include <string>

namespace limpid {

enum class MemoryKind : std::uint8_t { kHost, kCuda };

/// Whose memory samples are in: the host's or a device's.
struct MemoryDomain {
  MemoryKind kind = MemoryKind::kHost;
  int ordinal = 0;  ///< the number that its runtime gives the device; 0 for the host's

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
