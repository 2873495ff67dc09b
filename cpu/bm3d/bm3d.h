// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/frame/fields.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// BM3D of whole frames, divided into bands of rows and tiles that run as oneTBB tasks. Each task starts as
/// soon as its inputs are complete.
class Bm3d final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats.
  Bm3d(const Bm3dParameters& parameters, const FrameFormat& format);
  ~Bm3d() override;

  void filter(const Frame& in, const NoiseModel& noise, Frame& out) override;

  bool estimates_means() const override { return true; }

  /// Warnings about planes that are too small to be filtered.
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  struct Component;
  struct Picture;
  struct PlaneSet;
  struct Scratch;
  struct Task;
  struct Workspace;
  class TaskMaker;

  int steps() const;
  void filter_picture(const Picture& picture);

  // Prepares for pictures of this noise and size if the last picture's differ. Tasks are kept until the size
  // or the set of filtered components changes.
  void prepare_for(const NoiseModel& noise, const PlaneHeights& heights);
  void make_jobs(const Bm3dPlan& plan, PlaneSet& set);
  void make_tasks(const Bm3dPlan& plan);

  // The tasks of one band of rows.
  void load(const Picture& picture, int band);
  void prepare(PlaneSet& set, int step, int band);
  void estimate(const Picture& picture, PlaneSet& set, int step, int band);

  Bm3dParameters parameters_;
  FrameFormat format_;
  StepTables hard_;
  std::unique_ptr<StepTables> wiener_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Workspace> workspace_;
};

/// Throws the errors of the constructor, and Error for a transform that this engine does not support.
std::unique_ptr<FrameFilter> make_frame_filter(const Bm3dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
