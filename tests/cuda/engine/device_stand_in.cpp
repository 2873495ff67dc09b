// SPDX-License-Identifier: MIT
#include "tests/cuda/engine/device_stand_in.h"

#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/noise/noise.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/mixing.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {
namespace {

struct Device {
  std::mutex mutex;
  // Queue of all streams, in the order of the calls, which fulfills all waits.
  std::deque<std::function<void()>> work;
  stand_in::Counts counts;
  int calls_until_failure = -1;
  stand_in::Failure failure = stand_in::Failure::kOfOneCall;
  bool failed = false;
  bool context_in_use = false;
  unsigned context_flags = 0;
};

Device& device() {
  static Device the_device;
  return the_device;
}

thread_local int selected_device = 0;

cudaError_t enqueue(std::function<void()> work) {
  Device& d = device();
  const std::scoped_lock lock(d.mutex);
  const bool fails = d.calls_until_failure == 0;
  d.calls_until_failure -= d.calls_until_failure >= 0 ? 1 : 0;
  if (fails && d.failure == stand_in::Failure::kOfTheDevice) {
    d.failed = true;
    d.work.clear();
  }
  if (fails || d.failed) {
    return cudaErrorLaunchFailure;
  }
  d.work.push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t wait() {
  stand_in::run_all();
  return device().failed ? cudaErrorLaunchFailure : cudaSuccess;
}

// A handle that is only counted.
template <typename Handle>
cudaError_t make(Handle* handle, int stand_in::Counts::*count) {
  Device& d = device();
  const std::scoped_lock lock(d.mutex);
  *handle = reinterpret_cast<Handle>(new char);
  ++(d.counts.*count);
  return cudaSuccess;
}

cudaError_t destroy(void* handle, int stand_in::Counts::*count) {
  if (handle != nullptr) {
    Device& d = device();
    const std::scoped_lock lock(d.mutex);
    delete static_cast<char*>(handle);
    --(d.counts.*count);
  }
  return cudaSuccess;
}

cudaError_t allocate(void** memory, std::size_t bytes, int stand_in::Counts::*count,
                     int stand_in::Counts::*total) {
  Device& d = device();
  const std::scoped_lock lock(d.mutex);
  if (d.failed) {
    return cudaErrorLaunchFailure;
  }
  constexpr std::size_t kAlignment = 256;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  ++(d.counts.*count);
  ++(d.counts.*total);
  return cudaSuccess;
}

cudaError_t free_memory(void* memory, int stand_in::Counts::*count) {
  if (memory != nullptr) {
    wait();  // as the runtime does
    Device& d = device();
    const std::scoped_lock lock(d.mutex);
    std::free(memory);
    --(d.counts.*count);
  }
  return cudaSuccess;
}

CUresult get_device(CUdevice* handle, int number) {
  *handle = number;
  return CUDA_SUCCESS;
}

CUresult get_context_state(CUdevice /*handle*/, unsigned* flags, int* active) {
  *flags = device().context_flags;
  *active = device().context_in_use ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult set_context_flags(CUdevice /*handle*/, unsigned flags) {
  device().context_flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace

namespace stand_in {

cudaError_t enqueue(std::function<void()> work) { return cuda::enqueue(std::move(work)); }

Counts counts() {
  const std::scoped_lock lock(device().mutex);
  return device().counts;
}

void reset() {
  Device& d = device();
  const std::scoped_lock lock(d.mutex);
  d.work.clear();
  d.counts = {};
  d.calls_until_failure = -1;
  d.failed = false;
  d.context_in_use = false;
  d.context_flags = 0;
}

void run_all() {
  Device& d = device();
  const std::scoped_lock lock(d.mutex);
  for (; !d.work.empty(); d.work.pop_front()) {
    d.work.front()();
  }
}

void fail_after(int calls, Failure failure) {
  const std::scoped_lock lock(device().mutex);
  device().calls_until_failure = calls;
  device().failure = failure;
}

void use_primary_context(unsigned flags) {
  device().context_in_use = true;
  device().context_flags = flags;
}

unsigned primary_context_flags() { return device().context_flags; }

}  // namespace stand_in

// Filters that copy.

class CopyingFilter final : public FrameFilter {
 public:
  CopyingFilter(const FrameFormat& format, Reach reach) : FrameFilter(format), reach_(reach) {}

  Reach reach() const override { return reach_; }
  std::size_t memory() const override { return 0; }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override {
    for (int p = 0; p < format_.plane_count(); ++p) {
      const SamplePlane& in = window.frames[window.current].planes[p];
      check(cudaMemcpy2DAsync(out[p].data, out[p].stride, in.data, in.stride,
                              static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                              format_.plane_height(p), cudaMemcpyDeviceToDevice, stream));
    }
  }

 private:
  Reach reach_;
};

std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& /*parameters*/,
                                               const FrameFormat& format) {
  return std::make_unique<CopyingFilter>(format, Reach());
}
std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& /*filter*/,
                                               const FrameFormat& format) {
  return std::make_unique<CopyingFilter>(format, Reach());
}
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  return std::make_unique<CopyingFilter>(format, reach_of(parameters));
}
std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format) {
  return std::make_unique<CopyingFilter>(format, reach_of(parameters));
}
std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& /*parameters*/,
                                               const FrameFormat& format) {
  return std::make_unique<CopyingFilter>(format, reach_of(Vbm4dParameters()));
}

// The stand-in's filter estimates no means.
ClippingCorrection::ClippingCorrection(const FrameFormat& format) : format_(format) {}
void ClippingCorrection::enqueue(const SamplePlanes& /*noisy*/, const NoiseModel& /*noise*/,
                                 const SamplePlanes& /*out*/, cudaStream_t /*stream*/) {}

NoiseEstimator::PlaneMemory::PlaneMemory() = default;
NoiseModel NoiseEstimator::estimate(const FrameFormat& /*format*/,
                                    const std::array<SamplePlane, kMaxPlanes>& /*planes*/,
                                    bool /*interlaced*/, const Event& uploaded) {
  memory_[0].stream.wait(uploaded.get());
  check(cudaStreamSynchronize(memory_[0].stream.get()));
  return {{1, 2, 3}};
}
BrightnessHistogram NoiseEstimator::brightness_histogram(const FrameFormat& /*format*/,
                                                         const Plane& /*plane*/, int /*padding_bits*/,
                                                         cudaEvent_t /*ready*/) {
  return {};
}
float NoiseEstimator::combed_share(const FrameFormat& /*format*/, const Plane& /*plane*/,
                                   const Plane& /*before*/, int /*padding_bits*/,
                                   const std::array<cudaEvent_t, 2>& /*ready*/) {
  return 0;
}

// Returns the frames' first samples as statistics.
NoiseMeasurer::NoiseMeasurer(const FrameFormat& format) : format_(format), sums_(1) {}
noise::NoiseStatistics NoiseMeasurer::measure(const std::array<SamplePlane, kMaxPlanes>& frame,
                                              const std::array<SamplePlane, kMaxPlanes>* before,
                                              bool /*interlaced*/, const noise::SceneRange& /*range*/,
                                              bool /*levels_only*/, cudaStream_t stream) {
  check(cudaStreamSynchronize(stream));
  noise::NoiseStatistics statistics;
  statistics.channels[0].copied = std::to_integer<int>(*frame[0].data);
  statistics.channels[1].copied = before == nullptr ? -1 : std::to_integer<int>(*(*before)[0].data);
  return statistics;
}

void unpack_plane(const FrameFormat& format, const Plane& from, int /*padding_bits*/, const SamplePlane& out,
                  cudaStream_t stream) {
  check(cudaMemcpy2DAsync(out.data, out.stride, from.data, from.stride,
                          static_cast<std::size_t>(from.width) * format.bytes_per_sample(), from.height,
                          cudaMemcpyDeviceToDevice, stream));
}
void pack_plane(const FrameFormat& format, const SamplePlane& from, int /*padding_bits*/, const Plane& to,
                cudaStream_t stream) {
  check(cudaMemcpy2DAsync(to.data, to.stride, from.data, from.stride,
                          static_cast<std::size_t>(to.width) * format.bytes_per_sample(), to.height,
                          cudaMemcpyDeviceToDevice, stream));
}

void mix_in(const FrameFormat& /*format*/, const SamplePlanes& /*noisy*/, float /*mix*/,
            const SamplePlanes& /*out*/, cudaStream_t /*stream*/) {}
void mix_results(const FrameFormat& /*format*/, const SamplePlanes& /*first*/, const SamplePlanes& /*before*/,
                 const SamplePlanes& /*second*/, float /*share*/, const SamplePlanes& /*out*/,
                 cudaStream_t /*stream*/) {}

void pass_outside(const FrameFormat& /*format*/, const SamplePlanes& /*noisy*/, const Region& /*area*/,
                  const SamplePlanes& /*out*/, cudaStream_t /*stream*/) {}

void pass_unusable_samples(const SamplePlane& /*from*/, const SamplePlane& /*to*/, int /*width*/,
                           int /*height*/, cudaStream_t /*stream*/) {}

}  // namespace limpid::cuda

// The CUDA runtime.

using limpid::cuda::stand_in::Counts;
namespace cuda = limpid::cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 2;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "Stand-in");
  properties->major = device == 0 ? 9 : 6;
  properties->multiProcessorCount = 1;
  properties->totalGlobalMem = 1 << 30;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
  *value = 9;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = cuda::selected_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  cuda::selected_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t /*error*/) { return "a failure"; }
const char* cudaGetErrorName(cudaError_t /*error*/) { return "cudaErrorOfATest"; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = 1 << 30;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return cuda::allocate(memory, bytes, &Counts::memory_blocks, &Counts::device_allocations);
}
cudaError_t cudaFree(void* memory) { return cuda::free_memory(memory, &Counts::memory_blocks); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  return cuda::allocate(memory, bytes, &Counts::pinned_memory, &Counts::pinned_allocations);
}
cudaError_t cudaFreeHost(void* memory) { return cuda::free_memory(memory, &Counts::pinned_memory); }

cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t /*stream*/) {
  return cuda::enqueue([=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind /*kind*/,
                              cudaStream_t /*stream*/) {
  return cuda::enqueue([=] {
    for (std::size_t y = 0; y < height; ++y) {
      std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                  width);
    }
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  return cuda::make(stream, &Counts::streams);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return cuda::destroy(stream, &Counts::streams); }
cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) { return cuda::wait(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t /*stream*/, cudaEvent_t /*event*/, unsigned /*flags*/) {
  return cuda::enqueue([] {});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  return cuda::make(event, &Counts::events);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return cuda::destroy(event, &Counts::events); }
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) {
  return cuda::enqueue([] {});
}
cudaError_t cudaEventQuery(cudaEvent_t /*event*/) {
  const std::scoped_lock lock(cuda::device().mutex);
  return cuda::device().work.empty() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) { return cuda::wait(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t /*earlier*/, cudaEvent_t /*later*/) {
  *milliseconds = 1;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*kernel*/) {
  ++cuda::device().counts.kernel_queries;
  *attributes = {};
  attributes->ptxVersion = cuda::selected_device == 0 ? 90 : 80;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* /*kernel*/, cudaFuncAttribute /*attribute*/, int /*value*/) {
  ++cuda::device().counts.kernel_queries;
  return cudaSuccess;
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* /*found*/) {
#else
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long /*flags*/,
                                    cudaDriverEntryPointQueryResult* /*found*/) {
#endif
  const std::string asked = name;
  *function = asked == "cuDeviceGet"                  ? reinterpret_cast<void*>(cuda::get_device)
              : asked == "cuDevicePrimaryCtxGetState" ? reinterpret_cast<void*>(cuda::get_context_state)
                                                      : reinterpret_cast<void*>(cuda::set_context_flags);
  return cudaSuccess;
}

}  // extern "C"
