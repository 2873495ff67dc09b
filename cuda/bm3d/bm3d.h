// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/matching.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// BM3D, step by step, for all planes together.
class Bm3d final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);

  bool estimates_means() const override { return true; }
  std::size_t memory() const override;

  /// Data of one step that depend only on its parameters.
  struct Step {
    Step(const Bm3dStep& parameters, bool wiener, const FrameFormat& format);
    Bm3dStep parameters;
    int capacity = 0;  ///< maximum number of patches in a group
    const MatchingVariant* matching = nullptr;
    const FilterVariant* filter = nullptr;  ///< kernel that filters groups
    FixedPoint fixed_point;
    FilterTables tables;
    DeviceMemory general_tables;  ///< forward, inverse, window; if the filter uses them
  };

 private:
  struct Component {
    float offset = 0;              // mid-gray
    const float* range = nullptr;  // range of float samples
    FloatPlane noisy;
    FloatPlane basic;
  };

  void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                      const NoiseModel& noise, cudaStream_t stream) override;
  void run_step(const Step& step, bool wiener, const Bm3dComponentSet& set, const FloatPlane& guide_plane,
                const std::array<Component, 3>& components, cudaStream_t stream);

  Bm3dParameters parameters_;
  std::optional<Bm3dPlan> plan_;  // plan of the last picture
  Step hard_;
  std::optional<Step> wiener_;
  std::array<DeviceMemory, 3> noisy_;
  std::array<DeviceMemory, 3> basic_;
  DeviceMemory guide_;
  DeviceMemory matching_;
  DeviceMemory brightness_;
  DeviceMemory numerator_;
  DeviceMemory weight_;
  DeviceMemory members_;
  DeviceMemory ranges_;
  DeviceMemory scratch_;
  Stream clearing_;  // clears the sums while groups are found
  Event sums_free_;
  Event sums_clear_;
};

}  // namespace limpid::cuda
