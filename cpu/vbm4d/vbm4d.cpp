// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/vbm4d.h"

#include <tbb/enumerable_thread_specific.h>

#include <memory>

#include "cpu/vbm4d/along_motion.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<TrajectoryScratch>>();
  return std::make_unique<FilterAlongMotion>(
      parameters, format,
      GroupStage{temporal_span(parameters).frames(), [scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_trajectories(job, tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
