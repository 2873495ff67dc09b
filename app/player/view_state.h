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
  bool muted = false;
  bool swapped = false;   ///< the denoised picture is on the left
  bool mirrored = false;  ///< left and right of both pictures are exchanged
  bool pixels = false;    ///< the values of the pixel below the pointer are shown
  Passage passage;
  bool loops = false;          ///< the passage, or the whole source, is repeated
  bool plays_passage = false;  ///< playback ends with the passage
  bool resumes = false;        ///< when the handle of the passage is released
  bool labels = true;          ///< over the picture: which side is which
  bool help = false;
  bool statistics = false;
  std::string hint;        ///< as long as it applies
  std::string label_text;  ///< of the labels over the picture

  bool ended = false;           ///< the last frame is shown
  bool asks_to_quit = false;    ///< while a file is written
  bool quits = false;           ///< the window closes
  bool cancels_output = false;  ///< the file that is written is not finished
  bool window_is_lost = false;  ///< the window no longer exists
};

}  // namespace limpid::app
