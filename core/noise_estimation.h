#pragma once

#include "core/frame.h"
#include "core/parameters.h"

namespace limpid {

/// Estimates the noise level of each colour plane from one frame's own content.
NoiseLevel estimate_noise(const Frame& frame);

/// Follows the noise level of a stream: averages over the first frames, holds the value while the content
/// stays alike, and starts again after a big change (a scene cut, another exposure). Deterministic.
class NoiseTracker {
 public:
  /// The level for `frame`, which is the next of the stream.
  NoiseLevel update(const Frame& frame);

 private:
  NoiseLevel sum_{};
  int count_ = 0;
};

}  // namespace limpid
