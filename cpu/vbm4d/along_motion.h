#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {

/// What a filter along motion does with the groups of reference patches.
struct GroupStage {
  /// How many patches a group gives estimates of, at most.
  int patches = 1;
  /// Finds, filters and aggregates the groups of a tile. Called on many threads at once.
  std::function<void(const TrajectoryJob& job, const Tile& tile)> process;
};

/// What filters along motion share on the CPU: V-BM4D, and others that follow reference patches as it does
/// (core/README.md).
///
/// Each picture passes through the same stages, each once: its samples, guides and motion are made when it
/// comes; its groups of the first step when the pictures that they reach are there; its basic estimate when
/// all groups are done that reach it; and so on. What is made of it is kept with it until no later group can
/// reach it.
class FilterAlongMotion final : public FrameFilter {
 public:
  /// `parameters` tell the steps, grids, windows and spans, and when trajectories end. Throws UsageError for
  /// illegal ones, Error for formats that don't make sense.
  FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format, GroupStage groups);
  FilterAlongMotion(const FilterAlongMotion&) = delete;
  FilterAlongMotion& operator=(const FilterAlongMotion&) = delete;
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

}  // namespace limpid::cpu
