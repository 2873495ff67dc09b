#pragma once

#include <cstdint>
#include <string>

namespace limpid {

enum class MemoryKind : std::uint8_t { kHost, kCuda };

/// Whose memory samples are in: the host's, or a device's, by the number that its runtime gives it.
struct MemoryDomain {
  MemoryKind kind = MemoryKind::kHost;
  int device = 0;  ///< 0 for the host's

  bool operator==(const MemoryDomain&) const = default;
  bool is_host() const { return kind == MemoryKind::kHost; }
};

inline constexpr MemoryDomain kHostMemory{};
constexpr MemoryDomain cuda_memory(int device) { return {MemoryKind::kCuda, device}; }

/// "the host's memory", "the memory of GPU 1".
inline std::string to_string(const MemoryDomain& memory) {
  return memory.is_host() ? "the host's memory" : "the memory of GPU " + std::to_string(memory.device);
}

}  // namespace limpid
