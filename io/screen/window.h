// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/not_copyable.h"
#include "io/media/display_properties.h"
#include "io/screen/display.h"

namespace limpid::io {

struct Rectangle {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Rectangle&) const = default;
};

/// An event of a window. Positions are in pixels of its drawing area.
struct WindowEvent {
  enum class Kind : std::uint8_t {
    kClose,
    kKey,      ///< `key`
    kPointer,  ///< the pointer has moved to x, y
    kDrag,     ///< the pointer has moved to x, y, by dx, dy, with a button held, or a finger
    kPress,    ///< a button, or a finger, is down at x, y
    kRelease,  ///< the button, or the finger, is up again at x, y
    kLeave,    ///< the pointer has left the window
    kFile,     ///< the file `path` was dropped on the window
    kWheel,    ///< the wheel has turned by dy notches, up being positive, at x, y
    kChanged,  ///< resized, shown or uncovered: to be drawn again
    kWake,     ///< Window::wake()
  };
  Kind kind = Kind::kWake;
  /// What the key types ("q", "?", " "), or its name: LEFT, RIGHT, UP, DOWN, PGUP, PGDN, HOME, END, ESC,
  /// ENTER, BACKSPACE, DELETE, TAB, with "Shift+" before it; or a letter with "Ctrl+" before it.
  std::string key;
  bool repeats = false;  ///< of kKey: the key is held, and was reported before
  bool is_lost = false;  ///< of kClose: the window no longer exists
  std::string path;
  double x = 0;
  double y = 0;
  bool touch = false;  ///< of kDrag: by a finger
  bool right = false;  ///< of kDrag, kPress and kRelease: by the right button
  int clicks = 1;      ///< of kPress: 2 for a double click
  double dx = 0;
  double dy = 0;
};

struct WindowOptions {
  std::string title;
  Size size;           ///< wished for, in pixels; a part of the screen at most
  Size least = {};     ///< smallest size unless `fixed`, in units of 1/96 inch; a part of the screen at most
  bool fixed = false;  ///< use `size` even if it is larger than the screen
  bool vsync = true;
  /// Called once if the connection to the display is lost, as when its server ends or kills the client, on
  /// the thread that detects it. When it returns, the process ends with exit code 1 and without another
  /// message. May be empty.
  std::function<void()> display_lost = nullptr;
};

/// A resizable window with a drawing area of OpenGL 3.2, by SDL2. All calls except wake() are made on the
/// thread that created it, where its OpenGL context is current. There is one at a time. Throws Error with
/// SDL's reason if no window can be opened.
class Window : NotCopyable {
 public:
  explicit Window(const WindowOptions& options);
  ~Window();

  /// Size of the drawing area in physical pixels.
  Size size() const;
  /// Physical pixels per unit of the desktop: 2 on a high-density display.
  double pixel_ratio() const;
  /// False if one of SDL's drivers draws it in memory only.
  bool is_on_screen() const;
  /// False while hidden or minimized: presenting may wait forever.
  bool is_visible() const;
  /// Physical pixels per unit of 1/96 inch, by the settings of the desktop: 2 for text twice as large.
  double scale() const;
  bool is_full_screen() const;
  void toggle_full_screen();
  void show_pointer(bool shown);
  /// Removes the window from the screen.
  void hide();
  void set_title(const std::string& title);
  /// Replaces WindowOptions::display_lost.
  void set_display_lost(std::function<void()> display_lost);
  /// Puts text on the clipboard of the desktop.
  void copy(const std::string& text);

  /// Waits for the next event. Returns nothing after `timeout`.
  std::optional<WindowEvent> wait(std::chrono::milliseconds timeout);
  /// Ends a wait(). May be called on any thread while the window exists.
  void wake();

  /// Makes the whole drawing area black.
  void clear();
  /// A copy of the drawing, exactly as it will be shown.
  RgbImage snapshot() const;
  /// Shows the drawing; with vsync it waits for the display.
  void present();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
