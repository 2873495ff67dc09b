#pragma once

#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/cpu/bm3d/tile.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// The group of one reference patch, for people to look at.

namespace limpid::cpu {

struct Match {
  Position position;    ///< of the patch's first sample
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
  std::vector<Match> matches;  ///< the reference patch, then the others in the engine's order; as many as a
                               ///< group may have, not rounded down to a power of two
};

/// The group that BM3D's first step finds on the first plane (for RGB on the opponent Y). Its reference patch
/// is the one of the grid whose centre is nearest to sample (x, y). The frame is taken as progressive. Throws
/// UsageError for illegal parameters or a sample outside of the plane, Error if the plane is smaller than a
/// patch.
MatchedGroup find_matches(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise,
                          int x, int y);

}  // namespace limpid::cpu
