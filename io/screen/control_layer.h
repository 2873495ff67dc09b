// SPDX-License-Identifier: MIT
#pragma once

struct _FcConfig;

#include <imgui.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/display_properties.h"
#include "io/screen/window.h"

namespace limpid::io {

/// A font on the machine.
struct FontFile {
  std::string path;  ///< empty if there is no font
  int index = 0;     ///< of the font in the file
  bool operator==(const FontFile&) const = default;
  bool operator<(const FontFile& other) const {
    return std::tie(path, index) < std::tie(other.path, other.index);
  }
};

/// The fonts of the desktop (fontconfig).
class Fonts {
 public:
  Fonts();
  /// The font for plain text that has these characters, or most of them.
  FontFile find(const std::vector<std::uint32_t>& characters = {}) const;

 private:
  std::shared_ptr<_FcConfig> config_;
};

/// The characters of a text in UTF-8; a question mark for what is no character, as in old file names.
std::vector<std::uint32_t> characters_of(std::string_view text);
/// The text with invalid UTF-8 replaced by question marks.
std::string valid_utf8(std::string_view text);

/// The controls over the picture of a Window: Dear ImGui, in the font of the desktop, with the events of the
/// pointer, and of keys while has_keyboard(). Between begin() and end(), callers use ImGui's functions.
/// Belongs to the thread of the window, which must exist longer; one at a time.
class ControlLayer : NotCopyable {
 public:
  ControlLayer();
  ~ControlLayer();

  /// Takes events of the pointer and of keys, which the next frames see one after the other.
  void handle(const WindowEvent& event);
  /// True if another frame is to be drawn: a press has not been seen yet, or characters are missing.
  bool has_events() const;
  /// True while a list is open or text is typed: keys are for the controls of the last frame.
  bool has_keyboard() const;
  /// True if the pointer is on a control of the last frame, or holds one.
  bool has_pointer() const;

  /// Begins a frame. `scale`: Window::scale(). `text`: size of overlay_font(), in pixels.
  void begin(Size window, double scale, int text);
  /// The font for text over the picture.
  static ImFont* overlay_font();
  /// The text in valid UTF-8. Its characters are in the fonts from the next frame on.
  std::string text(const std::string& text);
  /// Draws the frame.
  void end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
