// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/not_copyable.h"

namespace limpid {

/// Data that a temporal filter keeps for a frame while results depend on it, such as its basic estimate.
class FrameState : NotCopyable {
 public:
  virtual ~FrameState() = default;
};

/// The frames that a result may depend on, as values of type `Seen`: the filtered frame and its neighbors
/// within the filter's reach, fewer at the beginning, the end and at cuts of the stream.
template <typename Seen>
struct FrameWindow {
  std::vector<Seen> frames;
  std::size_t current = 0;  ///< index of the filtered frame
  /// False for frames that are context only, which filters of unbounded reach also receive.
  bool wanted = true;
};

}  // namespace limpid
