#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/cpu/bm3d/tile.h"
#include "core/cpu/runtime/frame_filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_level.h"

namespace limpid::cpu {

/// BM3D of whole frames, cut into bands of rows and tiles that run as oneTBB tasks, each as soon as its
/// inputs are there.
class Bm3d final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, Error for formats that don't make sense.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);
  ~Bm3d() override;
  Bm3d(const Bm3d&) = delete;
  Bm3d& operator=(const Bm3d&) = delete;

  void filter(const Frame& in, const NoiseLevel& noise, Frame& out) override;

  /// Planes that are too small to be filtered.
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  struct Component;
  struct Picture;
  struct PlaneSet;
  struct Scratch;
  struct Task;
  struct Workspace;

  bool is_rgb() const;
  int steps() const;
  void filter_picture(const std::array<Plane, kMaxPlanes>& in, const NoiseLevel& noise,
                      const std::array<Plane, kMaxPlanes>& out);

  // What there is to do for a picture. The sets and tasks, which depend on its size and on which planes are
  // filtered, stay as they are until that changes.
  void plan();
  void gather_sets();
  void plan_jobs(PlaneSet& set);
  void plan_tasks();

  // The tasks of one band of rows.
  void load(const Picture& picture, int band);
  void prepare(PlaneSet& set, int step, int band);
  void estimate(const Picture& picture, PlaneSet& set, int step, int band);

  FrameFormat format_;
  Matching matching_;
  StepTables hard_;
  std::unique_ptr<StepTables> wiener_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Workspace> workspace_;
};

/// Throws as the constructor does, and Error for a transform that this engine does not have.
std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
