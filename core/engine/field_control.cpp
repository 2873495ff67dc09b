// SPDX-License-Identifier: MIT
#include "core/engine/field_control.h"

#include <algorithm>

namespace limpid {

void FieldControl::decide(Frame& frame) {
  if (choice_ != FieldChoice::kAuto) {
    frame.interlaced = choice_ == FieldChoice::kInterlaced;
    return;
  }
  if (frame.begins_anew) {
    reset();
  }
  const float share = frame.interlaced ? 0 : combed_share(frame);
  before_ = frame;
  by_field_ = share >= kManyBlocks ? 1 + hold_ : std::max(by_field_ - 1, 0);
  combed_ = share > 0 ? 1 + kHold : std::max(combed_ - 1, 0);
  frame.interlaced = frame.interlaced || by_field_ > 0;
  frame.combed = combed_ > 0;
}

void FieldControl::reset() {
  before_.reset();
  by_field_ = combed_ = 0;
}

float FieldControl::combed_share(const Frame& frame) const {
  // Frames decoded by a GPU may be converted in host memory when their size changes.
  const bool is_comparable = before_ && before_->format == frame.format && before_->memory == frame.memory;
  return is_comparable ? engine_.combed_share(frame, *before_) : 0;
}

}  // namespace limpid
