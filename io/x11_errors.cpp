#include "io/x11_errors.h"

#include <SDL_log.h>
#include <X11/Xlib.h>

#include <array>

namespace limpid::io {

void survive_x11_errors() {
  XSetErrorHandler([](Display* display, XErrorEvent* error) {
    std::array<char, 128> text{};
    XGetErrorText(display, error->error_code, text.data(), static_cast<int>(text.size()));
    SDL_LogDebug(SDL_LOG_CATEGORY_VIDEO, "X11: request %d: %s", error->request_code, text.data());
    return 0;
  });
}

}  // namespace limpid::io
