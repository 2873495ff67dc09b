// SPDX-License-Identifier: MIT

#include "cuda/vbm4d/vbm4d.h"
#include "cuda/vnlb/patch_groups.h"

namespace limpid::cuda {
namespace {

class VnlbStage final : public GroupStage {
 public:
  explicit VnlbStage(const VnlbParameters& parameters) : parameters_(parameters) {}

  std::size_t bytes_per_group(bool second_step) const override {
    return PatchGroups::bytes_of(capacity(second_step));
  }
  void find(const TrajectoryJob& followed, bool second_step, void* memory,
            cudaStream_t stream) const override {
    find_patch_groups(followed, {step(second_step), parameters_.before, parameters_.after},
                      groups(followed.grid, followed.out, second_step, memory), stream);
  }
  void filter(const GroupJob& job, bool second_step, void* memory, cudaStream_t stream) const override {
    filter_patch_groups(job, groups(job.grid, job.groups, second_step, memory), stream);
  }

 private:
  const VnlbStep& step(bool second) const { return second ? *parameters_.second : parameters_.first; }
  int capacity(bool second_step) const { return PatchGroups::capacity_for(step(second_step).group_size); }
  PatchGroups groups(const ReferenceGrid& grid, const Trajectories& followed, bool second_step,
                     void* memory) const {
    const int rows = followed.last_row - followed.first_row;
    return PatchGroups::in(memory, capacity(second_step), static_cast<std::size_t>(grid.columns) * rows);
  }

  VnlbParameters parameters_;
};

}  // namespace

std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  return std::make_unique<Vbm4d>(followed_like(parameters), format, std::make_unique<VnlbStage>(parameters));
}

}  // namespace limpid::cuda
