#pragma once

#include <cstdint>
#include <memory>
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

/// Work that a device does in the order in which it was enqueued, whatever else it does: for those who fill
/// frames in its memory side by side, as video decoders do.
class DeviceStream {
 public:
  DeviceStream() = default;
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream(DeviceStream&&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  DeviceStream& operator=(DeviceStream&&) = delete;
  virtual ~DeviceStream() = default;

  /// What the device's runtime calls it (CUDA: a cudaStream_t), as long as this lives.
  virtual void* handle() const = 0;
  /// The end of all that has been enqueued so far, for Frame::ready. Throws Error if the device has failed.
  virtual std::shared_ptr<void> mark() = 0;
};

}  // namespace limpid
