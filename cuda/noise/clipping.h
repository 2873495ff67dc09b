// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "core/frame/frame.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// Corrects estimates for the clipping of noise at the ends of the sample range, bit-exact with the CPU
/// engine. For frames of one format on the current device, on one stream.
class ClippingCorrection {
 public:
  explicit ClippingCorrection(const FrameFormat& format);

  /// Enqueues the correction of `out`, the estimate of `noisy`.
  void enqueue(const SamplePlanes& noisy, const NoiseModel& noise, const SamplePlanes& out,
               cudaStream_t stream);

 private:
  FrameFormat format_;
  ClippedEndsOfPlanes ends_;
  std::array<PlaneNoise, 3> ends_noise_;  // the noise for which device_ends_ was made
  DeviceMemory device_ends_;              // per plane
  DeviceMemory counts_;                   // per plane, for both ends
};

}  // namespace limpid::cuda
