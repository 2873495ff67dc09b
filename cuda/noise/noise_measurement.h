// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene_range.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// Noise statistics of frames of one format on the current device: those of cpu::measure_noise(), with each
/// block in the same bin. Only the sums of energies are rounded, for each block by at most 2^-17. Keeps 1 MiB
/// of working memory in the device and in the host, and the memory for motion.
class NoiseMeasurer {
 public:
  explicit NoiseMeasurer(const FrameFormat& format);

  /// Measures `frame` and its differences from `before`, the previous frame or null. Both are in device
  /// memory, complete after the work enqueued to `stream`. Runs on that stream and waits for it.
  noise::NoiseStatistics measure(const std::array<SamplePlane, kMaxPlanes>& frame,
                                 const std::array<SamplePlane, kMaxPlanes>* before, bool interlaced,
                                 const noise::SceneRange& range, cudaStream_t stream);

 private:
  struct Motion {
    Motion(int width, int height);
    MotionPyramid reference;
    MotionPyramid current;
    MotionEstimator estimator;
    DeviceMotionField field;  // to the picture before
    DeviceMotionField back;   // from that picture back
  };

  FrameFormat format_;
  DeviceMemory sums_;
  std::shared_ptr<std::byte> sums_in_host_;
  std::array<std::optional<Motion>, 2> motion_;  // for frames and for fields
};

}  // namespace limpid::cuda
