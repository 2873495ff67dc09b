// SPDX-License-Identifier: MIT
#pragma once

// SDL's handles and errors, and what it leaves undone: messages of libraries below it, and the X server's
// errors. Private to io. Libraries of the desktop are loaded if they are there, so that the program starts
// without them.

#include <SDL.h>
#include <SDL_events.h>
#include <SDL_video.h>

#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/not_copyable.h"

namespace limpid::io {

/// Suppresses the messages of ALSA and Wayland that there is no sound card or no compositor, which SDL
/// reports to the program, too. One call in a process is enough.
void silence_libraries();

/// From now on the X server's complaints about single requests end the process no more, as Xlib has it do
/// otherwise: they come late, when the window that they are about may be gone. SDL's wake-up calls, which
/// take a connection of their own, are overtaken by the window's end now and then.
void survive_x11_errors();

/// While it exists, `act` is called before the process ends, as Xlib has it do when a connection to the
/// server is lost: see WindowOptions::display_lost. One at a time.
class X11LossHandler : NotCopyable {
 public:
  explicit X11LossHandler(std::function<void()> act);
  ~X11LossHandler();
};

/// Makes the server's events of windows available to is_destruction().
void watch_x11_windows();
/// True if the event reports that another client has destroyed the window.
bool is_destruction(const SDL_Event& event, SDL_Window* window);

/// Sets the title of a window of X11 in UTF-8, which SDL garbles unless the process has a locale for it.
/// Returns false for windows of other systems.
bool set_x11_title(SDL_Window* window, const std::string& title);

/// Factor of the desktop's text size, from the resource Xft.dpi; 1 if there is none, and on other displays.
double x11_text_scale(SDL_Window* window);

/// Call this before SDL_DestroyWindow(), which waits until the server reports that the window is hidden, and
/// would wait forever if another client has destroyed it.
void prepare_x11_destruction(SDL_Window* window);

/// One of SDL's subsystems, which SDL itself counts the users of.
class SdlSubsystem : NotCopyable {
 public:
  /// Throws Error "<what>: <SDL's text>".
  SdlSubsystem(Uint32 flag, std::string_view what) : flag_(flag) {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // they are the program's
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    silence_libraries();
    survive_x11_errors();  // before SDL, which calls what it finds
    if (SDL_InitSubSystem(flag) != 0) {
      throw Error(std::string(what) + ": " + SDL_GetError());
    }
  }
  ~SdlSubsystem() { SDL_QuitSubSystem(flag_); }

 private:
  Uint32 flag_;
};

struct SdlDeleter {
  void operator()(SDL_Window* window) const { SDL_DestroyWindow(window); }
  void operator()(SDL_GLContext context) const { SDL_GL_DeleteContext(context); }
};

/// The one check of SDL's results: throws Error "<what>: <SDL's text>" unless `ok`.
inline void sdl_check(bool ok, std::string_view what) {
  if (!ok) {
    throw Error(std::string(what) + ": " + SDL_GetError());
  }
}

}  // namespace limpid::io
