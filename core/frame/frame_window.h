#pragma once

#include <cstddef>
#include <vector>

namespace limpid {

/// What a filter over time keeps of one frame for as long as results depend on it, such as its basic
/// estimate.
class FrameState {
 public:
  FrameState() = default;
  FrameState(const FrameState&) = delete;
  FrameState& operator=(const FrameState&) = delete;
  virtual ~FrameState() = default;
};

/// The frames that a result may depend on, each as somebody sees it: the one that is filtered and those
/// around it, as many as the filter's reach at most, fewer where the stream begins, ends or is cut.
template <typename Seen>
struct FrameWindow {
  std::vector<Seen> frames;
  std::size_t current = 0;  ///< the one that is filtered
  /// Whether its result is wanted: a filter of unbounded reach is given frames that are context only, too.
  bool wanted = true;
};

}  // namespace limpid
