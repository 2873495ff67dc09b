// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/noise/noise_model.h"
#include "cuda/edge_preserving/bilateral.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The edge-preserving filters, plane by plane.
class EdgePreserving final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
  EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format);

  std::size_t memory() const override;

 private:
  void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                      const NoiseModel& noise, cudaStream_t stream) override;
  void filter_plane(const BilateralParameters& parameters, float sigma, const SamplePlane& in,
                    const SamplePlane& out, cudaStream_t stream);
  void filter_plane(const AdaptiveBilateralParameters& parameters, float sigma, const SamplePlane& in,
                    const SamplePlane& out, cudaStream_t stream);
  void run_passes(std::span<const BilateralPass> passes, const AdaptiveBilateralWeights& weights,
                  const SamplePlane& in, const SamplePlane& out, cudaStream_t stream);
  /// Filters a plane by one of the two filters that compare patches.
  template <typename Parameters>
  void filter_plane(const Parameters& parameters, float sigma, const SamplePlane& in, const SamplePlane& out,
                    cudaStream_t stream);

  EdgePreservingFilter filter_;
  // Working planes of the size of the largest plane; `width` and `height` describe the current plane.
  FloatPlane noisy_plane_;
  FloatPlane result_plane_;
  DeviceMemory noisy_;
  DeviceMemory result_;
  DeviceMemory values_;
};

inline std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter,
                                                      const FrameFormat& format) {
  return std::make_unique<EdgePreserving>(filter, format);
}

}  // namespace limpid::cuda
