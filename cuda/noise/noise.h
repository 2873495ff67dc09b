// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "core/frame/frame.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The noise estimate of cpu/noise/noise_estimation.h on the current device. Blocks are analyzed, ordered and
/// summed there, a few kilobytes of sums are downloaded, and core/noise/noise_blocks.h computes sigma. Keeps
/// 4 MiB of working memory per plane, and its own streams, whose priority is above the filters' because the
/// caller waits for the result.
class NoiseEstimator {
 public:
  /// The noise level of a frame, given its planes in device memory, complete at `uploaded`.
  NoiseModel estimate(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
                      bool interlaced, const Event& uploaded);

  /// Equal to limpid::brightness_histogram(), for a plane in the layout that unpack_plane() reads, complete
  /// at `ready`.
  BrightnessHistogram brightness_histogram(const FrameFormat& format, const Plane& plane, int padding_bits,
                                           cudaEvent_t ready);

  /// Equal to limpid::combed_share(), for planes of two frames in the layout that unpack_plane() reads,
  /// complete at these events.
  float combed_share(const FrameFormat& format, const Plane& plane, const Plane& before, int padding_bits,
                     const std::array<cudaEvent_t, 2>& ready);

 private:
  class PlaneSearch;
  struct PlaneMemory {
    PlaneMemory();
    DeviceMemory work;
    DeviceMemory sorting;
    Stream stream{Stream::Priority::kUrgent};
  };

  std::array<PlaneMemory, 3> memory_;  // color planes are processed concurrently
};

}  // namespace limpid::cuda
