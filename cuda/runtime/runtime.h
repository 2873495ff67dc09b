#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"

// Owners of what the CUDA runtime hands out, and its errors as exceptions. Host code only.

namespace limpid::cuda {

/// Throws Error naming the function with the failed call if `status` is one.
void check(cudaError_t status, const char* function = __builtin_FUNCTION());

/// Throws Error if the launch before it could not start.
void check_launch(const char* function = __builtin_FUNCTION());

/// Makes `device` the calling thread's current one for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  /// For destructors: ignores errors, as every call reports it when the device has failed.
  DeviceScope(int device, std::nothrow_t) noexcept;
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  int previous_ = 0;
};

/// Makes threads sleep, instead of spin, in every wait for the device. If the device's primary context is
/// already in use, it is left as it is, and only Event::synchronize() sleeps. libav's decoders and encoders
/// share the primary context only with a program that has set it up like this.
void wait_by_sleeping(int device);

/// What kernels must know of the device.
struct DeviceLimits {
  /// Bytes that a block may have statically, which the others leave room for.
  static constexpr std::size_t kStaticSharedMemory = 2048;

  int compute_capability = 0;  ///< 10 major + minor
  int multiprocessors = 0;
  std::size_t shared_memory = 0;                 ///< bytes that a block may have dynamically
  std::size_t multiprocessor_shared_memory = 0;  ///< bytes of all blocks on one
  std::size_t reserved_shared_memory = 0;        ///< bytes of a block that the system takes of these

  /// Bytes that each block may have dynamically for so many to be on a multiprocessor at once.
  std::size_t shared_memory_of(int blocks) const {
    const std::size_t share = multiprocessor_shared_memory / static_cast<std::size_t>(blocks);
    return std::min(shared_memory, share - std::min(share, reserved_shared_memory + kStaticSharedMemory));
  }
};
/// The limits of the current device. The driver is asked once for each device.
DeviceLimits device_limits();

/// Whether a kernel's machine code for the current device lets the next kernel start before its end
/// (follow_stream() in cuda/runtime/launch.h).
bool compiled_to_overlap(const void* kernel);
/// Lets a kernel use all the dynamic shared memory that a block on the current device may have. For this and
/// compiled_to_overlap() the driver is called once for each kernel and device.
void allow_all_shared_memory(const void* kernel);

/// Memory on the current device, uninitialized. Throws Error with the amount if it does not suffice.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes);
  /// With what is in host memory.
  template <typename T>
  static DeviceMemory copy_of(const std::vector<T>& values) {
    DeviceMemory memory(values.size() * sizeof(T));
    check(cudaMemcpy(memory.as(), values.data(), memory.bytes(), cudaMemcpyHostToDevice));
    return memory;
  }
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  template <typename T = std::byte>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A stream that does not wait for the default stream. Blocks of an urgent stream's kernels are started
/// first.
class Stream {
 public:
  enum class Priority { kNormal, kUrgent };
  explicit Stream(Priority priority = Priority::kNormal);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();
  cudaStream_t get() const { return stream_; }
  /// Work enqueued from now on waits for `event`.
  void wait(cudaEvent_t event) const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in a stream's work. `synchronize` sleeps rather than spins.
class Event {
 public:
  Event() : Event(cudaEventDisableTiming) {}
  /// One that also notes when it occurs.
  static Event timed() { return Event(cudaEventDefault); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
  cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const;
  void synchronize() const;
  /// False, too, if the device has failed.
  bool has_occurred() const;
  /// The time from `earlier` to this, both timed events that have occurred. Exact to half a microsecond;
  /// beyond some seconds, to seven digits.
  double milliseconds_since(const Event& earlier) const;

 private:
  explicit Event(unsigned flags);
  cudaEvent_t event_ = nullptr;
};

/// Page-locked host memory, uninitialized. Throws Error if it does not suffice, which names `purpose`: what
/// is to be in it.
std::shared_ptr<std::byte> allocate_pinned_memory(std::size_t bytes, const std::string& purpose);

/// A frame in page-locked host memory, which the device reads and writes by itself; frames of formats too
/// large to be locked are an Error.
Frame allocate_pinned_frame(const FrameFormat& format);

}  // namespace limpid::cuda
