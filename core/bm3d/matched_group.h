#pragma once

#include <vector>

// The group of one reference patch, for people to look at.

namespace limpid {

struct MatchedPatch {
  int x = 0;  ///< its first sample
  int y = 0;
  double distance = 0;  ///< mean squared difference of the guide's values to the reference patch's, in
                        ///< squared 8-bit code values
};

struct MatchedGroup {
  int patch_size = 0;
  /// The first samples of all candidates, ends excluded.
  int window_x0 = 0;
  int window_y0 = 0;
  int window_x1 = 0;
  int window_y1 = 0;
  std::vector<MatchedPatch> patches;  ///< the reference patch, then the others in the engine's order; as many
                                      ///< as a group may have, not rounded down to a power of two
};

}  // namespace limpid
