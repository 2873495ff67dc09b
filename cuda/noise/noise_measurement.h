#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/noise_statistics.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// What frames of one format tell of their noise, on the current device: what cpu::measure_noise() finds,
/// with each block in the same bin. Only the sums of energies are rounded, each block's to 2^-17 at most.
/// Holds its working memory: 1 MiB in the device and in the host, and what motion needs.
class NoiseMeasurer {
 public:
  explicit NoiseMeasurer(const FrameFormat& format);

  /// `frame` and `before`, the frame before it or null, are in device memory as of what has been enqueued to
  /// `stream`, which does all the work and for which this waits.
  noise::NoiseStatistics measure(const std::array<SamplePlane, kMaxPlanes>& frame,
                                 const std::array<SamplePlane, kMaxPlanes>* before, bool interlaced,
                                 const BrightnessScale& scale, cudaStream_t stream);

 private:
  struct Motion {
    Motion(int width, int height);
    MotionPyramid reference;
    MotionPyramid current;
    MotionEstimator estimator;
    DeviceMotionField field;  // to the picture before
    DeviceMotionField back;   // from there
  };

  FrameFormat format_;
  DeviceMemory sums_;
  std::shared_ptr<std::byte> sums_in_host_;
  std::array<std::optional<Motion>, 2> motion_;  // of frames and of fields
};

}  // namespace limpid::cuda
