// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/frame/frame.h"

// RAII owners of CUDA runtime resources, and runtime errors as exceptions. Host code only.

namespace limpid::cuda {

/// Throws an Error that names the function of the failed call if `status` is an error.
void check(cudaError_t status, const char* function = __builtin_FUNCTION());

/// Throws Error if the preceding launch failed to start.
void check_launch(const char* function = __builtin_FUNCTION());

/// Makes `device` the calling thread's current device during the object's lifetime.
class DeviceScope : NotCopyable {
 public:
  explicit DeviceScope(int device);
  /// For destructors: ignores errors, because after a failure of the device every call reports an error.
  DeviceScope(int device, std::nothrow_t) noexcept;
  ~DeviceScope();

 private:
  int previous_ = 0;
};

/// Makes threads sleep instead of spin in every wait for the device. If the device's primary context is
/// already in use, it is not changed, and only Event::synchronize() sleeps. libav's decoders and encoders
/// share the primary context only with programs that have configured it in this way.
void wait_by_sleeping(int device);

/// The device's limits for kernels.
struct DeviceLimits {
  /// Bytes of static shared memory per block that the limits of dynamic shared memory leave free.
  static constexpr std::size_t kStaticSharedMemory = 2048;

  int compute_capability = 0;  ///< 10 * major + minor version of the compute capability
  int multiprocessors = 0;
  std::size_t shared_memory = 0;  ///< maximum dynamic shared memory of a block, in bytes
  /// Shared memory of all blocks on a multiprocessor, in bytes.
  std::size_t multiprocessor_shared_memory = 0;
  std::size_t reserved_shared_memory = 0;  ///< bytes of it per block that the system reserves

  /// Bytes of dynamic shared memory per block with which `blocks` blocks fit a multiprocessor.
  std::size_t shared_memory_of(int blocks) const {
    const std::size_t share = multiprocessor_shared_memory / static_cast<std::size_t>(blocks);
    return std::min(shared_memory, share - std::min(share, reserved_shared_memory + kStaticSharedMemory));
  }
};
/// The limits of the current device. The driver is queried once per device.
DeviceLimits device_limits();

/// True if a kernel's machine code for the current device lets the next kernel start before its end
/// (follow_stream() in cuda/runtime/launch.h).
bool compiled_to_overlap(const void* kernel);
/// Allows a kernel to use a block's maximum of dynamic shared memory on the current device. This function and
/// compiled_to_overlap() call the driver once per kernel and device.
void allow_all_shared_memory(const void* kernel);

/// Memory on the current device, uninitialized. Throws an OutOfMemory error with the amount if it is
/// insufficient.
class DeviceMemory : NotCopyable {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes);
  /// Device memory with a copy of data in host memory.
  template <typename T>
  static DeviceMemory copy_of(const std::vector<T>& values) {
    DeviceMemory memory(values.size() * sizeof(T));
    check(cudaMemcpy(memory.as(), values.data(), memory.bytes(), cudaMemcpyHostToDevice));
    return memory;
  }
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
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

/// A stream that does not synchronize with the default stream. Blocks of an urgent stream's kernels are
/// started first.
class Stream : NotCopyable {
 public:
  enum class Priority { kNormal, kUrgent };
  explicit Stream(Priority priority = Priority::kNormal);
  ~Stream();
  cudaStream_t get() const { return stream_; }
  /// Makes later work wait for `event`.
  void wait(cudaEvent_t event) const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in the work of a stream. `synchronize` sleeps instead of spinning.
class Event : NotCopyable {
 public:
  Event() : Event(cudaEventDisableTiming) {}
  /// An event that also records its time.
  static Event timed() { return Event(cudaEventDefault); }
  ~Event();
  cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const;
  void synchronize() const;
  /// True if the event has occurred. False also if the device has failed.
  bool has_occurred() const;
  /// The time from `earlier` to this event. Both must be timed and have occurred. Accurate to half a
  /// microsecond; for more than a few seconds, to seven digits.
  double milliseconds_since(const Event& earlier) const;

 private:
  explicit Event(unsigned flags);
  cudaEvent_t event_ = nullptr;
};

/// Page-locked host memory, uninitialized. Throws an OutOfMemory error that names `purpose`, the intended
/// content, if memory is insufficient.
std::shared_ptr<std::byte> allocate_pinned_memory(std::size_t bytes, const std::string& purpose);

/// A frame in page-locked host memory, which the device accesses directly. Throws Error for formats that are
/// too large to be locked.
Frame allocate_pinned_frame(const FrameFormat& format);

}  // namespace limpid::cuda
