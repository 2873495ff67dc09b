#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/noise/brightness.h"
#include "core/noise/noise_level.h"

namespace limpid {

/// Follows the noise level of a stream. The variances of the first frames of a scene are averaged, then the
/// level is held and only checked from time to time, which keeps it steady and nearly free. Averaging starts
/// again at a scene cut and when several checks in a row say that the level has changed. Deterministic.
class NoiseTracker {
 public:
  /// The level for the next frame of the stream, given its brightness; `estimate` is called if the frame must
  /// be measured. All frames must have one format.
  NoiseLevel update(const Brightness& brightness, const std::function<NoiseLevel()>& estimate);

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
