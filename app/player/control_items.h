// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "io/screen/window.h"

namespace limpid::app {

/// The controls of a frame of ImGui. Each has a name, a tooltip with its keys, and a place in the window,
/// which the log of level debug reports when it changes: "control: play at 20,350".
class ControlItems {
 public:
  /// Begins a frame. `scale`: pixels to a unit of 1/96 inch.
  void begin(float scale);
  /// Reports the places that have changed.
  void end();

  float scale() const { return scale_; }

  /// A button. True if it has been clicked.
  bool button(const char* name, const char* label, const char* tooltip);
  /// A button that looks pressed if `chosen`.
  bool choice(const char* name, const char* label, bool chosen, const char* tooltip);
  /// A slider over the whole width, behind its label. True if the value has changed.
  bool slider(const char* name, const char* label, float& value, float least, float most, const char* format,
              const char* tooltip);
  /// Notes the last item of ImGui as a control.
  void note(const char* name, const char* tooltip);

 private:
  float scale_ = 1;
  std::map<std::string, io::Rectangle> places_;
  std::map<std::string, io::Rectangle> last_places_;
};

}  // namespace limpid::app
