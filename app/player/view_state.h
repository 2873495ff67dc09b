// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/player/passage.h"
#include "app/player/view.h"

namespace limpid::app {

/// The state of a window beside its frame and zoom: plain values that keys and the mouse change.
struct ViewState {
  Side side = Side::kSplit;
  double gain = 4;  ///< of the difference
  double volume = 1;
  Passage passage;
  bool labels = true;  ///< over the picture: which side is which
  bool help = false;
  bool statistics = false;
  bool asks_to_quit = false;  ///< while a file is written
  std::string hint;           ///< as long as it applies
  std::string label_text;     ///< of the labels over the picture
};

}  // namespace limpid::app
