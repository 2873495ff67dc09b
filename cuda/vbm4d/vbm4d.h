// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/frame/frame.h"
#include "core/vbm4d/schedule.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"
#include "cuda/vbm4d/groups.h"

namespace limpid::cuda {

/// V-BM4D. The data of a frame is kept while results depend on it, so that every frame is prepared, every
/// group found and every estimate computed once. Memory comes from pools: after the first frames of a stream,
/// nothing is allocated.
class Vbm4d final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory. `stage`:
  /// finds and filters other groups than those of V-BM4D.
  Vbm4d(const Vbm4dParameters& parameters, const FrameFormat& format,
        std::unique_ptr<const GroupStage> stage = nullptr);

  Reach reach() const override { return reach_of(parameters_); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override;
  std::unique_ptr<FrameState> make_state() override { return std::make_unique<State>(); }
  void renew(FrameState& state) override;
  bool estimates_means() const override { return true; }
  std::size_t memory() const override;

 private:
  static constexpr int kKinds = 2;  // kinds of guides: of luma's size, and of subsampled chroma's

  // The state of a frame or a field.
  struct Picture : limpid::vbm4d::ScheduledPicture {
    std::array<DeviceMemory, 3> noisy;  // in the format for groups
    std::array<DeviceMemory, 3> basic;
    std::array<std::array<DeviceMemory, kKinds>, 2> guides;  // by step
    std::array<std::array<DeviceMemory, 3>, 2> sums;
    std::unique_ptr<MotionPyramid> pyramid;  // until its motion is computed
    std::unique_ptr<DeviceMotionField> ahead;
    std::unique_ptr<DeviceMotionField> back;
  };
  struct State final : FrameState {
    std::array<Picture, 2> pictures;  // by parity
  };

  // Motion estimation for a size of pictures.
  struct Motion {
    Motion(int width, int height) : estimator(width, height) {}
    MotionEstimator estimator;
    std::vector<std::unique_ptr<MotionPyramid>> pyramids;  // idle
    std::vector<std::unique_ptr<DeviceMotionField>> fields;
    std::size_t bytes = 0;  // of all pyramids and fields
  };

  struct Step {
    Step(const Vbm4dStep& step, const Bm3dStep& of_bm3d);
    Vbm4dStep parameters;
    Bm3dStep similar;
    const MatchingVariant* matching;
    FilterTables tables;
    GroupSums sums;
  };

  struct Sequence : limpid::vbm4d::Sequence<State, FilteredFrame> {
    const SamplePlanes& out;  // of the whole frame
    cudaStream_t stream;

    SamplePlanes planes(const SamplePlanes& of_frame) const;
  };

  int steps() const { return wiener_ ? 2 : 1; }
  const Step& step(int number) const { return number == 0 ? hard_ : *wiener_; }
  bool has_guide(const Sequence& sequence, int kind) const;
  FloatPlane scratch(const Sequence& sequence, int component) const;
  FloatPlane means(const Sequence& sequence) const;
  GroupSamples samples_of(int component) const;
  std::size_t row_bytes(const ReferenceGrid& grid, bool second_step) const;
  std::size_t noisy_bytes() const;
  int rows_per_band(const ReferenceGrid& grid, bool second_step) const;
  friend limpid::vbm4d::Executor;
  void load(const Sequence& sequence, int i);
  void find_motion(const Sequence& sequence, int i);
  void load_noisy(const Sequence& sequence, int i);
  void make_guides(const Sequence& sequence, int i, int step);
  /// One step for the reference patches of a picture.
  struct GroupStep {
    int picture;
    int number;  ///< 0 or 1
    int first;   ///< pictures with patches of the groups
    int last;
    int first_estimated;  ///< first picture that gets estimates
  };
  TrajectoryJob trajectory_job(const Sequence& sequence, const GroupStep& groups, const Bm3dComponentSet& set,
                               const limpid::vbm4d::TrajectoryBounds& bounds, int& band);
  void filter_component(const Sequence& sequence, const GroupStep& groups, const TrajectoryJob& trajectories,
                        int c, cudaStream_t stream);
  void filter_band(const Sequence& sequence, const GroupStep& groups, const Bm3dComponentSet& set,
                   const TrajectoryJob& trajectories);
  void filter_groups(const Sequence& sequence, int i, int step, int first_target);
  void estimate(const Sequence& sequence, int i, int step);
  void make_basic(const Sequence& sequence, int i);
  void store_result(const Sequence& sequence, int i);
  void release(Picture& picture);

  DeviceMemory take(std::size_t bytes);
  void give_back(DeviceMemory& memory);
  void give_back_samples(Picture& picture);
  void give_back_motion(Picture& picture);

  Vbm4dParameters parameters_;
  TemporalSpan span_;
  std::unique_ptr<const GroupStage> stage_;
  Step hard_;
  std::optional<Step> wiener_;
  bool narrow_ = false;  // noisy samples are halves, and sums of 32 bits
  limpid::vbm4d::Executor executor_;
  std::map<int, Motion> motion_;                           // by height
  std::map<std::size_t, std::vector<DeviceMemory>> idle_;  // by bytes
  std::size_t pooled_ = 0;                                 // bytes of all memory from the pools
  std::array<DeviceMemory, 3> scratch_;                    // components in code values
  DeviceMemory means_;                                     // luma of subsampled chroma's size
  DeviceMemory matching_;                                  // a guide with margins
  DeviceMemory groups_;
  DeviceMemory brightness_;
  DeviceMemory stage_memory_;
  DeviceMemory transforms_;
  DeviceMemory interpolating_;
  Stream beside_;  // for a set's second plane, between two events of the frames' stream
  Event forked_;
  Event joined_;
};

}  // namespace limpid::cuda
