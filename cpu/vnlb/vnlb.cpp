// SPDX-License-Identifier: MIT
#include "cpu/vnlb/vnlb.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <memory>

#include "core/vnlb/space_time_patches.h"
#include "cpu/vbm4d/along_motion.h"
#include "cpu/vnlb/patch_groups.h"

namespace limpid::cpu {

std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  const VnlbStep& second = parameters.second.value_or(parameters.first);
  const int patches = vnlb::kSlices * std::max(parameters.first.group_size, second.group_size);
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<PatchGroupScratch>>();
  return make_filter_along_motion(
      followed_like(parameters), format,
      GroupStage{patches, [parameters, second, scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_patch_groups(
                       job, {job.wiener ? second : parameters.first, parameters.before, parameters.after},
                       tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
