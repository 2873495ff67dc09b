#pragma once

#include "core/filter/parameters.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The edge-preserving filters, plane by plane.
class EdgePreserving final : public FrameFilter {
 public:
  /// `filter` is any but BM3D. Throws UsageError for illegal parameters, Error for formats that don't make
  /// sense or if memory does not suffice.
  EdgePreserving(const Filter& filter, const FrameFormat& format);

  std::size_t memory() const override;

 private:
  void filter_picture(const SamplePlanes& in, const SamplePlanes& out,
                      const std::array<int, kMaxPlanes>& height, const NoiseLevel& noise,
                      cudaStream_t stream) override;
  void bilateral(const BilateralParameters& parameters, float sigma, const SamplePlane& in,
                 const SamplePlane& out, cudaStream_t stream);
  void bilateral(const AdaptiveBilateralParameters& parameters, float sigma, const SamplePlane& in,
                 const SamplePlane& out, cudaStream_t stream);
  template <typename Parameters>
  void nlm(const Parameters& parameters, float sigma, const SamplePlane& in, const SamplePlane& out,
           cudaStream_t stream);

  Filter filter_;
  // For the largest of the planes; `width` and `height` are those of the one under way.
  FloatPlane noisy_plane_;
  FloatPlane result_plane_;
  DeviceMemory noisy_;
  DeviceMemory result_;
  DeviceMemory values_;
};

}  // namespace limpid::cuda
