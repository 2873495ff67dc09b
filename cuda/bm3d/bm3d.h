#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"
#include "core/noise/noise_level.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/fourier/fourier.h"
#include "cuda/bm3d/matching.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// BM3D, step after step, of all planes together.
class Bm3d final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, Error for formats that don't make sense or if memory does not
  /// suffice.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);

  std::size_t memory() const override;

  /// What one step needs that depends on its parameters alone.
  struct Step {
    Step(const Bm3dStep& parameters, GroupTransform transform, bool wiener, const FrameFormat& format);
    Bm3dStep parameters;
    int capacity = 0;  ///< of a group
    bool match_fast = false;
    bool filter_fast = false;
    FixedPoint fixed_point;
    FilterTables tables;
    DeviceMemory general_tables;             ///< forward, inverse, window; if not filter_fast
    std::unique_ptr<FourierFilter> fourier;  ///< if the transform is one
  };

 private:
  struct Component {
    int width = 0;
    int height = 0;
    float sigma = 0;               // 0: not filtered
    float offset = 0;              // mid-grey
    const float* range = nullptr;  // of float samples
    FloatPlane noisy;
    FloatPlane basic;
  };

  // What patches are matched on.
  struct Guide {
    FloatPlane plane;
    bool whole_code_values = false;
    double sigma = 0;  // of the noise in the noisy guide
  };

  void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                      const NoiseLevel& noise, cudaStream_t stream) override;
  void run_step(const Step& step, bool wiener, const Guide& guide, const std::vector<Component*>& components,
                cudaStream_t stream);

  Matching matching_kind_;
  float lambda_;
  Step hard_;
  std::optional<Step> wiener_;
  std::array<DeviceMemory, 3> noisy_;
  std::array<DeviceMemory, 3> basic_;
  DeviceMemory guide_;
  DeviceMemory matching_;
  DeviceMemory numerator_;
  DeviceMemory weight_;
  DeviceMemory members_;
  DeviceMemory ranges_;
  DeviceMemory scratch_;
  Stream clearing_;  // clears the sums while groups are found
  Event sums_free_;
  Event sums_clear_;
};

inline std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters,
                                                      const FrameFormat& format) {
  return std::make_unique<Bm3d>(parameters, format);
}

}  // namespace limpid::cuda
