// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The noise estimate of cpu/noise/noise.h on the current device. Blocks are analyzed, ordered and
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
    std::shared_ptr<std::byte> in_host;  // pinned, as copies to other memory are staged
    Stream stream{Stream::Priority::kUrgent};
  };

  std::array<PlaneMemory, 3> memory_;  // color planes are processed concurrently
};

/// Noise statistics of frames of one format on the current device: those of cpu::measure_noise(), with each
/// block in the same bin. Only the sums of energies are rounded, for each block by at most 2^-17. Keeps 1 MiB
/// of working memory in the device and in the host, and the memory for motion.
class NoiseMeasurer {
 public:
  explicit NoiseMeasurer(const FrameFormat& format);

  /// Measures `frame` and its differences from `before`, the previous frame or null. Both are in device
  /// memory, complete after the work enqueued to `stream`. Runs on that stream and waits for it.
  /// `levels_only`: only the levels of the first channel, without `before`.
  noise::NoiseStatistics measure(const std::array<SamplePlane, kMaxPlanes>& frame,
                                 const std::array<SamplePlane, kMaxPlanes>* before, bool interlaced,
                                 const noise::SceneRange& range, bool levels_only, cudaStream_t stream);

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
  std::array<PlaneNoise, 3> ends_noise_;  // the noise for which ends_ and device_ends_ were made
  std::array<std::optional<ClippedEnds>, 3> ends_;
  DeviceMemory device_ends_;  // per plane
  DeviceMemory counts_;       // per plane, for both ends
};

}  // namespace limpid::cuda
