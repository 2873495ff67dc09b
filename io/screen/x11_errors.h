// SPDX-License-Identifier: MIT
#pragma once

// The X server's errors, and what else SDL leaves undone there. Private to io. All do nothing on other
// displays.

#include <SDL_events.h>
#include <SDL_video.h>

#include <functional>
#include <string>

#include "core/base/not_copyable.h"

namespace limpid::io {

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

}  // namespace limpid::io
