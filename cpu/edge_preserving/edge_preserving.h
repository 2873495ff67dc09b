// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// The edge-preserving filters of whole frames: plane by plane, each divided into bands of rows or tiles that
/// run as oneTBB tasks.
class EdgePreserving final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats.
  EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format);
  ~EdgePreserving() override;

  void filter(const Frame& in, const NoiseModel& noise, Frame& out) override;

 private:
  struct Workspace;

  void filter_plane(const Plane& in, float sigma, const Plane& out);

  EdgePreservingFilter filter_;
  FrameFormat format_;
  std::unique_ptr<Workspace> workspace_;
};

inline std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter,
                                                      const FrameFormat& format) {
  return std::make_unique<EdgePreserving>(filter, format);
}

}  // namespace limpid::cpu
