// SPDX-License-Identifier: MIT
#pragma once

#include <deque>

#include "core/noise/noise_statistics.h"

namespace limpid::noise {

/// Finds frames whose noise level may differ from that of the scene's earlier frames. The lowest tenth of the
/// single blocks shows noise rather than texture, and their level hardly changes from frame to frame. In
/// coded video it alternates between types of frames.
class LevelSteps {
 public:
  /// True if the level of a frame's quiet blocks is beyond the range of the last three frames that were
  /// added, and differs by more than 15 % from the median of the last eight.
  bool is_step(const ChannelStatistics& luma) const;
  /// Adds a frame.
  void add(const ChannelStatistics& luma);
  void clear() { levels_.clear(); }

 private:
  std::deque<double> levels_;  // of the last frames
};

}  // namespace limpid::noise
