// SPDX-License-Identifier: MIT
#include "core/engine/field_control.h"

#include <algorithm>

#include "core/frame/combing.h"

namespace limpid {

void FieldControl::decide(Frame& frame) {
  if (choice_ != FieldChoice::kAuto) {
    frame.interlaced = choice_ == FieldChoice::kInterlaced;
    return;
  }
  if (frame.begins_anew) {
    reset();
  }
  const bool is_flagged = frame.interlaced;
  const float share = combed_share(frame);
  before_ = frame;
  const bool is_by_field = share >= (is_flagged ? kManyBlocksOfInterlaced : kManyBlocks);
  by_field_ = is_by_field ? 1 + hold_ : std::max(by_field_ - 1, 0);
  combed_ = share > 0 ? 1 + kHold : std::max(combed_ - 1, 0);
  frame.interlaced = by_field_ > 0;
  frame.combed = is_flagged || combed_ > 0;
}

void FieldControl::reset() {
  before_.reset();
  by_field_ = combed_ = 0;
}

float FieldControl::combed_share(const Frame& frame) const {
  // Frames decoded by a GPU may be converted in host memory when their size changes.
  if (!before_ && frame.interlaced) {
    return limpid::combed_share(engine_.in_host_memory(frame));
  }
  const bool is_comparable = before_ && before_->format == frame.format && before_->memory == frame.memory;
  return is_comparable ? engine_.combed_share(frame, *before_) : 0;
}

}  // namespace limpid
