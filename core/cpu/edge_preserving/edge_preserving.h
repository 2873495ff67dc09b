#pragma once

#include <memory>

#include "core/cpu/runtime/frame_filter.h"
#include "core/filter/parameters.h"
#include "core/frame/frame.h"

namespace limpid::cpu {

/// The edge-preserving filters of whole frames: plane after plane, each cut into bands of rows or tiles that
/// run as oneTBB tasks.
class EdgePreserving final : public FrameFilter {
 public:
  /// `filter` is any but BM3D. Throws UsageError for illegal parameters, Error for formats that don't make
  /// sense.
  EdgePreserving(const Filter& filter, const FrameFormat& format);
  ~EdgePreserving() override;
  EdgePreserving(const EdgePreserving&) = delete;
  EdgePreserving& operator=(const EdgePreserving&) = delete;

  void filter(const Frame& in, const NoiseLevel& noise, Frame& out) override;

 private:
  struct Workspace;

  void filter_plane(const Plane& in, float sigma, const Plane& out);

  Filter filter_;
  FrameFormat format_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace limpid::cpu
