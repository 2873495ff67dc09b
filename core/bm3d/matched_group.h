// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

// The group of one reference patch, for display.

namespace limpid {

struct MatchedPatch {
  int x = 0;  ///< its first sample
  int y = 0;
  double distance = 0;  ///< mean squared difference from the reference patch in the guide, in squared 8-bit
                        ///< code values
};

struct MatchedGroup {
  int patch_size = 0;
  /// Range of the first samples of all candidates, ends excluded.
  int window_x0 = 0;
  int window_y0 = 0;
  int window_x1 = 0;
  int window_y1 = 0;
  std::vector<MatchedPatch> patches;  ///< the reference patch, then the others in the engine's order; up to
                                      ///< the maximum of a group, not rounded down to a power of two
};

}  // namespace limpid
