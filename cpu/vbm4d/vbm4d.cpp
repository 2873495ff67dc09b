// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/vbm4d.h"

#include <tbb/enumerable_thread_specific.h>

#include <memory>

#include "core/vnlb/vnlb_parameters.h"
#include "cpu/runtime/mixed_filter.h"
#include "cpu/vbm4d/along_motion.h"
#include "cpu/vbm4d/trajectory_tile.h"
#include "cpu/vnlb/vnlb.h"

namespace limpid::cpu {

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  if (parameters.vnlb_share > 0) {
    Vbm4dParameters alone = parameters;
    alone.vnlb_share = 0;
    return mix_filters(
        make_frame_filter(alone, format), make_frame_filter(mixed_vnlb(parameters), format),
        [parameters](const NoiseModel& noise) { return vnlb_shares(parameters, noise); }, format);
  }
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<TrajectoryScratch>>();
  return std::make_unique<FilterAlongMotion>(
      parameters, format,
      GroupStage{temporal_span(parameters).frames(), [scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_trajectories(job, tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
