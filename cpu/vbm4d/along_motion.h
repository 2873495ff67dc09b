// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {

/// A filter's processing of the groups of reference patches.
struct GroupStage {
  /// Maximum number of patches of a group that get estimates.
  int patches = 1;
  /// Finds, filters and aggregates the groups of a tile. Called on many threads at once.
  std::function<void(const TrajectoryJob& job, const Tile& tile)> process;
};

/// The common part of CPU filters along motion: V-BM4D, and others that follow reference patches in the same
/// way (docs/algorithms.md).
///
/// Each picture passes through the same stages once. Its samples, guides and motion are computed when it
/// arrives, its groups of the first step when the pictures they reach have arrived, its basic estimate when
/// all groups that reach it are done, and so on. These data are kept with the picture until no later group
/// can reach it.
class FilterAlongMotion final : public FrameFilter {
 public:
  /// `parameters` define the steps, grids, windows and spans, and the end of trajectories. Throws UsageError
  /// for illegal parameters, and Error for invalid formats.
  FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format, const GroupStage& groups);
  ~FilterAlongMotion() override;

  Reach reach() const override;
  void filter_window(const FilterWindow& window, Frame& out) override;
  std::unique_ptr<FrameState> make_state() override;
  void renew(FrameState& state) override;
  bool is_done(const FrameState& state) const override;
  bool estimates_means() const override { return true; }
  std::vector<std::string> warnings() const override;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

/// V-BM4D on the CPU (docs/algorithms.md). Throws UsageError for illegal parameters, and Error for invalid
/// formats.
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
