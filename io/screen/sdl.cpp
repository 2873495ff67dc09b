// SPDX-License-Identifier: MIT

#include "io/screen/sdl.h"

#include <SDL_log.h>
#include <SDL_syswm.h>
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

namespace limpid::io {
namespace {

// The types of alsa/error.h and wayland-util.h. SDL may have been built without either, so they are not
// linked.
using AlsaHandler = void (*)(const char* file, int line, const char* function, int error, const char* format,
                             ...);
using WaylandHandler = void (*)(const char* format, va_list arguments);

void ignore_alsa(const char* /*file*/, int /*line*/, const char* /*function*/, int /*error*/,
                 const char* /*format*/, ...) {}
void ignore_wayland(const char* /*format*/, va_list /*arguments*/) {}

/// Calls `setter` of a library, which stays loaded then, with `handler`, if both are there.
template <typename Result, typename Handler>
void set_handler(const char* library, const char* setter, Handler handler) {
  if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE); loaded != nullptr) {
    if (void* const found = dlsym(loaded, setter); found != nullptr) {
      reinterpret_cast<Result (*)(Handler)>(found)(handler);
    }
    dlclose(loaded);
  }
}

}  // namespace

void silence_libraries() {
  set_handler<int, AlsaHandler>("libasound.so.2", "snd_lib_error_set_handler", ignore_alsa);
  set_handler<void, WaylandHandler>("libwayland-client.so.0", "wl_log_set_handler_client", ignore_wayland);
}

namespace {

std::mutex loss_mutex;
std::function<void()>& act_on_loss() {
  static std::function<void()> act;
  return act;
}

// Xlib takes no return for an answer: what it would do next is to end the process itself, by exit(), which
// destroys what other threads are at. They may find the loss, too, and wait here for the end.
int end_without_display(Display* /*display*/) {
  const std::scoped_lock lock(loss_mutex);
  if (act_on_loss()) {
    act_on_loss()();
  }
  std::_Exit(EXIT_FAILURE);
}

std::optional<SDL_SysWMinfo> x11_info(SDL_Window* window) {
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (SDL_GetWindowWMInfo(window, &info) != SDL_TRUE || info.subsystem != SDL_SYSWM_X11) {
    return std::nullopt;
  }
  return info;
}

}  // namespace

void survive_x11_errors() {
  XSetErrorHandler([](Display* display, XErrorEvent* error) {
    std::array<char, 128> text{};
    XGetErrorText(display, error->error_code, text.data(), static_cast<int>(text.size()));
    SDL_LogDebug(SDL_LOG_CATEGORY_VIDEO, "X11: request %d: %s", error->request_code, text.data());
    return 0;
  });
  XSetIOErrorHandler(end_without_display);
}

X11LossHandler::X11LossHandler(std::function<void()> act) {
  const std::scoped_lock lock(loss_mutex);
  act_on_loss() = std::move(act);
}

X11LossHandler::~X11LossHandler() {
  const std::scoped_lock lock(loss_mutex);
  act_on_loss() = nullptr;
}

void watch_x11_windows() { SDL_EventState(SDL_SYSWMEVENT, SDL_ENABLE); }

bool is_destruction(const SDL_Event& event, SDL_Window* window) {
  if (event.type != SDL_SYSWMEVENT || event.syswm.msg->subsystem != SDL_SYSWM_X11) {
    return false;
  }
  const XEvent& message = event.syswm.msg->msg.x11.event;
  const std::optional<SDL_SysWMinfo> info = x11_info(window);
  return message.type == DestroyNotify && info && message.xdestroywindow.window == info->info.x11.window;
}

bool set_x11_title(SDL_Window* window, const std::string& title) {
  const std::optional<SDL_SysWMinfo> info = x11_info(window);
  if (info) {
    Display* const display = info->info.x11.display;
    const auto set_utf8 = [&](Atom property) {
      XChangeProperty(display, info->info.x11.window, property, XInternAtom(display, "UTF8_STRING", False), 8,
                      PropModeReplace, reinterpret_cast<const unsigned char*>(title.data()),
                      static_cast<int>(title.size()));
    };
    set_utf8(XInternAtom(display, "_NET_WM_NAME", False));
    // For window managers without that property: in ICCCM's encoding, unless Xlib omits characters.
    std::string text = title;
    std::array<char*, 1> list{text.data()};
    XTextProperty name{};
    const int outcome = Xutf8TextListToTextProperty(display, list.data(), 1, XStdICCTextStyle, &name);
    if (outcome == Success) {
      XSetWMName(display, info->info.x11.window, &name);
    } else {
      set_utf8(XA_WM_NAME);
    }
    if (outcome >= Success) {
      XFree(name.value);
    }
    XFlush(display);
  }
  return info.has_value();
}

double x11_text_scale(SDL_Window* window) {
  constexpr double kUsualDpi = 96;
  const std::optional<SDL_SysWMinfo> info = x11_info(window);
  const char* const dpi = info ? XGetDefault(info->info.x11.display, "Xft", "dpi") : nullptr;
  return dpi != nullptr ? std::clamp(std::strtod(dpi, nullptr) / kUsualDpi, 0.5, 4.0) : 1;
}

void prepare_x11_destruction(SDL_Window* window) {
  if (const std::optional<SDL_SysWMinfo> info = x11_info(window)) {
    XEvent hidden{};
    hidden.xunmap.type = UnmapNotify;
    hidden.xunmap.display = info->info.x11.display;
    hidden.xunmap.event = hidden.xunmap.window = info->info.x11.window;
    XPutBackEvent(info->info.x11.display, &hidden);
  }
}

}  // namespace limpid::io
