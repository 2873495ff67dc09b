// SPDX-License-Identifier: MIT

#include "cuda/runtime/runtime.h"

#include <cudaTypedefs.h>

#include <map>
#include <mutex>
#include <utility>

#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {
namespace {

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

template <typename Function>
Function driver_function(const char* name, [[maybe_unused]] unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
#else  // the newest version in this CUDA; the functions used have only one
  check(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found));
#endif
  if (function == nullptr) {
    throw Error(std::string("the GPU driver is too old: it has no function ") + name);
  }
  return reinterpret_cast<Function>(function);
}

// Cached answers of the driver about kernels, each of which takes longer than a launch.
struct Kernels {
  struct State {
    bool overlaps = false;
    int static_shared_memory = 0;
    bool all_shared_memory = false;
  };
  std::mutex mutex;
  std::map<std::pair<int, const void*>, State> states;  // by device and kernel

  State& of(int device, const void* kernel) {
    const auto known = states.find({device, kernel});
    if (known != states.end()) {
      return known->second;
    }
    cudaFuncAttributes compiled{};
    check(cudaFuncGetAttributes(&compiled, kernel));
    State& state = states[{device, kernel}];
    state.overlaps = compiled.ptxVersion >= 90;
    state.static_shared_memory = static_cast<int>(compiled.sharedSizeBytes);
    return state;
  }
};

Kernels& kernels() {
  static Kernels all;
  return all;
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device));
  return device;
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
  // Uses the driver's own functions, since the runtime's may add a flag, which libav would treat as a
  // different configuration.
  const auto get = driver_function<PFN_cuDeviceGet_v2000>("cuDeviceGet", 2000);
  const auto get_state =
      driver_function<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 7000);
  const auto set_flags =
      driver_function<PFN_cuDevicePrimaryCtxSetFlags_v11000>("cuDevicePrimaryCtxSetFlags", 11000);
  CUdevice handle = 0;
  unsigned flags = 0;
  int active = 0;
  const bool known =
      get(&handle, device) == CUDA_SUCCESS && get_state(handle, &flags, &active) == CUDA_SUCCESS;
  // A context in use has been configured by another part of the process, such as the host program or Limpid.
  if (!known || (active == 0 && set_flags(handle, CU_CTX_SCHED_BLOCKING_SYNC) != CUDA_SUCCESS)) {
    throw Error("the GPU's context cannot be initialized");
  }
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t status = cudaMalloc(&data_, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // this kind of error does not persist after the call
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    throw OutOfMemory("out of GPU memory: " + mebibytes(bytes) + " more are required, but " +
                      mebibytes(free) + " of " + mebibytes(total) +
                      " are free; close other programs on the GPU, or use smaller pictures");
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
  const int device = current_device();
  static std::mutex mutex;
  static std::map<int, DeviceLimits> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) {
    return found->second;
  }
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  const auto bytes = [&](cudaDeviceAttr which) { return static_cast<std::size_t>(attribute(which)); };
  const DeviceLimits limits{
      .compute_capability =
          10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor),
      .multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
      .shared_memory = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin) - DeviceLimits::kStaticSharedMemory,
      .multiprocessor_shared_memory = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
      .reserved_shared_memory = bytes(cudaDevAttrReservedSharedMemoryPerBlock)};
  known.emplace(device, limits);
  return limits;
}

bool compiled_to_overlap(const void* kernel) {
  const int device = current_device();
  const std::scoped_lock lock(kernels().mutex);
  return kernels().of(device, kernel).overlaps;
}

void allow_all_shared_memory(const void* kernel) {
  const int device = current_device();
  const std::scoped_lock lock(kernels().mutex);
  Kernels::State& state = kernels().of(device, kernel);
  if (!state.all_shared_memory) {
    int most = 0;
    check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most - state.static_shared_memory));
    state.all_shared_memory = true;
  }
}

Event::Event(unsigned flags) { check(cudaEventCreateWithFlags(&event_, flags | cudaEventBlockingSync)); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get())); }
void Event::synchronize() const { check(cudaEventSynchronize(event_)); }
bool Event::has_occurred() const {
  const cudaError_t result = cudaEventQuery(event_);
  if (result == cudaErrorNotReady) {
    cudaGetLastError();  // clears the error for later calls
  }
  return result == cudaSuccess;
}
double Event::milliseconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return milliseconds;
}

std::shared_ptr<std::byte> allocate_pinned_memory(std::size_t bytes, const std::string& purpose) {
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory("out of memory: " + purpose + " needs " + mebibytes(bytes) + " of page-locked memory");
  }
  check(status);
  return {static_cast<std::byte*>(memory), [](std::byte* data) { cudaFreeHost(data); }};
}

Frame allocate_pinned_frame(const FrameFormat& format) {
  const std::size_t bytes = frame_bytes(format);  // throws for invalid formats before to_string()
  return place_frame(format, allocate_pinned_memory(bytes, "a frame of " + to_string(format)));
}

FrameFilter::FrameFilter(const FrameFormat& format) : format_(format) { format.validate("frame"); }

void SpatialFilter::enqueue(const SamplePlanes& in, const SamplePlanes& out, bool interlaced,
                            const NoiseModel& noise, cudaStream_t stream) {
  for (const PictureRows& rows : pictures_of(interlaced)) {
    SamplePlanes picture_in;
    SamplePlanes picture_out;
    for (int p = 0; p < format_.plane_count(); ++p) {
      picture_in[p] = {in[p].data + rows.first * in[p].stride, rows.spacing * in[p].stride};
      picture_out[p] = {out[p].data + rows.first * out[p].stride, rows.spacing * out[p].stride};
    }
    filter_picture(picture_in, picture_out, plane_heights(format_, rows), noise, stream);
  }
}

void SpatialFilter::copy_plane(int p, const SamplePlane& in, const SamplePlane& out, int height,
                               cudaStream_t stream) const {
  if (height > 0) {
    check(cudaMemcpy2DAsync(out.data, out.stride, in.data, in.stride,
                            static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                            height, cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace limpid::cuda
