#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "core/frame/frame.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// Undoes in estimates what the ends of the sample range have made of their noise, to the bit as the CPU
/// engine does it. For frames of one format on the current device, one after the other on one stream.
class ClippingCorrection {
 public:
  explicit ClippingCorrection(const FrameFormat& format);

  /// Enqueues it for `out`, the estimate of `noisy`.
  void enqueue(const SamplePlanes& noisy, const NoiseModel& noise, const SamplePlanes& out,
               cudaStream_t stream);

 private:
  FrameFormat format_;
  ClippedEndsOfPlanes ends_;
  std::array<PlaneNoise, 3> told_;  // what the ends on the device are for
  DeviceMemory device_ends_;        // of each plane
  DeviceMemory counts_;             // of each plane, of both ends
};

}  // namespace limpid::cuda
