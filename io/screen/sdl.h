// SPDX-License-Identifier: MIT
#pragma once

// SDL's handles with their deleters, and its errors as exceptions. Private to io.

#include <SDL.h>

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "io/screen/library_messages.h"
#include "io/screen/x11_errors.h"

namespace limpid::io {

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
