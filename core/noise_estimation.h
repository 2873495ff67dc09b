#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/brightness.h"
#include "core/frame.h"
#include "core/parameters.h"

namespace limpid {

/// Estimates the level of additive white Gaussian noise in each colour plane from one frame's own content.
///
/// The method belongs to the family that Ponomarenko et al. (2007) and Colom and Buades (IPOL 2013) describe:
/// of a grid of 8x8 blocks those with the least texture are found from the lower frequencies of their DCTs,
/// and the noise is measured on the higher frequencies of the same blocks, which in white noise are
/// independent of what the blocks were chosen by. How many blocks to trust is decided by the data: of all
/// shares of the blocks, from the flattest 1/400 to all, the one whose measured variance has the lowest upper
/// confidence bound counts. Samples that the noise has driven into the ends of the code range are accounted
/// for by the variance of a censored Gaussian (Foi, "Clipped noisy images", Signal Processing 2009).
///
/// Planes smaller than 16x16 and planes that are mostly constant give 0. Of interlaced frames the first field
/// is looked at. The result is a function of the samples alone. This is the CPU's; what it shares with other
/// engines' (Engine::estimate_noise()) is in core/noise_blocks.h.
NoiseLevel estimate_noise(const Frame& frame);

/// Follows the noise level of a stream. The variances of the first frames of a scene are averaged, then the
/// level is held and only checked from time to time, which keeps it steady and nearly free. Averaging starts
/// again at a scene cut and when several checks in a row say that the level has changed. Deterministic.
class NoiseTracker {
 public:
  /// The level for the next frame of the stream, given its brightness; `estimate` is called if the frame must
  /// be measured. All frames must have one format.
  NoiseLevel update(const Brightness& brightness, const std::function<NoiseLevel()>& estimate);
  /// The same for a frame in host memory.
  NoiseLevel update(const Frame& frame);

 private:
  void average_in(const NoiseLevel& own);
  bool agrees(const NoiseLevel& own) const;

  Brightness brightness_{};
  std::array<double, 3> variance_sums_{};
  int averaged_ = 0;                     ///< frames in variance_sums_
  int since_estimate_ = 0;               ///< frames since the last one that was measured
  std::vector<NoiseLevel> disagreeing_;  ///< the latest measurements, while they contradict the level
  NoiseLevel level_{};
};

}  // namespace limpid
