#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/cpu/tile.h"
#include "core/frame.h"
#include "core/parameters.h"

namespace limpid::cpu {

/// BM3D of whole frames, cut into tiles that run as oneTBB tasks in the caller's arena. Holds all working
/// memory, so that frame after frame allocates nothing. One frame at a time.
class Bm3d {
 public:
  /// Throws UsageError for illegal parameters, Error for formats that don't make sense.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);
  ~Bm3d();
  Bm3d(const Bm3d&) = delete;
  Bm3d& operator=(const Bm3d&) = delete;

  /// Filters `in` into `out`, which has planes of the same format; alpha is copied. `sigma` in 8-bit code
  /// values.
  void filter(const Frame& in, const NoiseLevel& noise, Frame& out);

  /// Planes that are too small to be filtered, a sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Component;
  struct PlaneSet;
  struct Workspace;

  void filter_picture(const std::array<Plane, kMaxPlanes>& in, const NoiseLevel& noise,
                      const std::array<Plane, kMaxPlanes>& out);
  void run_step(const StepTables& tables, bool wiener, const PlaneSet& set);

  FrameFormat format_;
  Matching matching_;
  StepTables hard_;
  std::unique_ptr<StepTables> wiener_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace limpid::cpu
