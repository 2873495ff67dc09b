#include "cuda/runtime.h"

#include <cudaTypedefs.h>

#include <memory>
#include <utility>

namespace limpid::cuda {
namespace {

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

template <typename Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (function == nullptr) {
    throw Error(std::string("the GPU's driver has no function ") + name);
  }
  return reinterpret_cast<Function>(function);
}

}  // namespace

void check(cudaError_t status, const char* function) {
  if (status != cudaSuccess) {
    throw Error(std::string("the GPU reports \"") + cudaGetErrorString(status) + "\" (" +
                cudaGetErrorName(status) + ", " + function + ")");
  }
}

void check_launch(const char* function) { check(cudaGetLastError(), function); }

DeviceScope::DeviceScope(int device) {
  check(cudaGetDevice(&previous_));
  check(cudaSetDevice(device));
}

DeviceScope::DeviceScope(int device, std::nothrow_t /*unused*/) noexcept {
  cudaGetDevice(&previous_);
  cudaSetDevice(device);
}

DeviceScope::~DeviceScope() { cudaSetDevice(previous_); }

void wait_by_sleeping(int device) {
  // By the driver's own functions: the runtime's may add a flag, which libav would take for another way.
  const auto get = driver_function<PFN_cuDeviceGet_v2000>("cuDeviceGet", 2000);
  const auto set_flags =
      driver_function<PFN_cuDevicePrimaryCtxSetFlags_v11000>("cuDevicePrimaryCtxSetFlags", 11000);
  CUdevice handle = 0;
  if (get(&handle, device) != CUDA_SUCCESS || set_flags(handle, CU_CTX_SCHED_BLOCKING_SYNC) != CUDA_SUCCESS) {
    throw Error("the GPU can't be set up");
  }
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t status = cudaMalloc(&data_, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // an error of this kind does not outlast the call
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    throw Error("out of GPU memory: " + mebibytes(bytes) + " more are needed and " + mebibytes(free) +
                " of " + mebibytes(total) +
                " are free; other programs on the GPU, or a smaller picture, would make room");
  }
  check(status);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() { cudaFree(data_); }

Stream::Stream(Priority priority) {
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                     priority == Priority::kUrgent ? greatest : least));
}
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::wait(cudaEvent_t event) const { check(cudaStreamWaitEvent(stream_, event, 0)); }

DeviceLimits device_limits() {
  int device = 0;
  check(cudaGetDevice(&device));
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  constexpr int kStatic = 2048;
  return {.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                                attribute(cudaDevAttrComputeCapabilityMinor),
          .multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
          .shared_memory =
              static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - kStatic)};
}

Event::Event(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags | cudaEventBlockingSync)); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get())); }
void Event::synchronize() const { check(cudaEventSynchronize(event_)); }
double Event::milliseconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return milliseconds;
}

Frame allocate_pinned_frame(const FrameFormat& format) {
  const std::size_t bytes = frame_bytes(format);
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error("out of memory: a frame of " + to_string(format) + " needs " + mebibytes(bytes) +
                " of page-locked memory");
  }
  check(status);
  return place_frame(format, std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                                        [](std::byte* data) { cudaFreeHost(data); }));
}

}  // namespace limpid::cuda
