#pragma once

#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_level.h"

namespace limpid::cpu {

/// What filters single frames of one format, on the threads of the caller's arena. Holds all working memory,
/// so that frame after frame allocates nothing. One frame at a time.
class FrameFilter {
 public:
  FrameFilter() = default;
  FrameFilter(const FrameFilter&) = delete;
  FrameFilter& operator=(const FrameFilter&) = delete;
  virtual ~FrameFilter() = default;

  /// Filters `in` into `out`, which has planes of the same format; alpha is copied. `noise` in 8-bit code
  /// values.
  virtual void filter(const Frame& in, const NoiseLevel& noise, Frame& out) = 0;

  /// What will not be filtered as asked, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }
};

}  // namespace limpid::cpu
