#pragma once

#include <array>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/noise/brightness_histogram.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// Follows the noise level of a stream. The variances of the first frames of a scene are averaged, then the
/// level is held and only checked from time to time, which keeps it steady and nearly free. Averaging starts
/// again at a scene cut and when several checks in a row say that the level has changed. Deterministic.
class NoiseTracker {
 public:
  /// `engine` looks at the frames, and must outlive this.
  explicit NoiseTracker(Engine& engine) : engine_(engine) {}

  /// The level for the next frame of the stream, which the engine can read. All frames must have one format.
  NoiseModel next(const Frame& frame);

 private:
  void average_in(const NoiseModel& own);
  bool agrees(const NoiseModel& own) const;

  Engine& engine_;
  BrightnessHistogram brightness_{};
  std::array<double, 3> variance_sums_{};
  int averaged_ = 0;                     ///< frames in variance_sums_
  int since_estimate_ = 0;               ///< frames since the last one that was measured
  std::vector<NoiseModel> disagreeing_;  ///< the latest measurements, while they contradict the level
  NoiseModel level_{};
};

}  // namespace limpid
