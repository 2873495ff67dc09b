// SPDX-License-Identifier: MIT
// The desktop on Linux: X11, Fontconfig, and libraries below SDL.
#include <SDL_loadso.h>
#include <SDL_log.h>
#include <SDL_syswm.h>
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "io/screen/control_layer.h"
#include "io/screen/sdl.h"

namespace limpid::io {
namespace {

/// A library of the desktop, which stays loaded. False if it, or a function that was searched, is missing.
class Library {
 public:
  explicit Library(const char* name) : library_(SDL_LoadObject(name)), is_whole_(library_ != nullptr) {}
  explicit operator bool() const { return is_whole_; }

 protected:
  template <typename Function>
  Function* find(const char* name) {
    void* const found = library_ == nullptr ? nullptr : SDL_LoadFunction(library_, name);
    is_whole_ = is_whole_ && found != nullptr;
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* library_;
  bool is_whole_;
};

// A function by its declaration.
#define LIMPID_FUNCTION(name) decltype(::name)* const name = find<decltype(::name)>(#name)

struct X11 : Library {
  X11() : Library("libX11.so.6") {}
  LIMPID_FUNCTION(XChangeProperty);
  LIMPID_FUNCTION(XFlush);
  LIMPID_FUNCTION(XFree);
  LIMPID_FUNCTION(XGetDefault);
  LIMPID_FUNCTION(XGetErrorText);
  LIMPID_FUNCTION(XInternAtom);
  LIMPID_FUNCTION(XPutBackEvent);
  LIMPID_FUNCTION(XSetErrorHandler);
  LIMPID_FUNCTION(XSetIOErrorHandler);
  LIMPID_FUNCTION(XSetWMName);
  LIMPID_FUNCTION(Xutf8TextListToTextProperty);
};

const X11& x11() {
  static const X11 functions;
  return functions;
}

struct Fontconfig : Library {
  Fontconfig() : Library("libfontconfig.so.1") {}
  LIMPID_FUNCTION(FcCharSetAddChar);
  LIMPID_FUNCTION(FcCharSetCreate);
  LIMPID_FUNCTION(FcCharSetDestroy);
  LIMPID_FUNCTION(FcConfigDestroy);
  LIMPID_FUNCTION(FcConfigSubstitute);
  LIMPID_FUNCTION(FcDefaultSubstitute);
  LIMPID_FUNCTION(FcFontMatch);
  LIMPID_FUNCTION(FcInitLoadConfigAndFonts);
  LIMPID_FUNCTION(FcPatternAddBool);
  LIMPID_FUNCTION(FcPatternAddCharSet);
  LIMPID_FUNCTION(FcPatternAddString);
  LIMPID_FUNCTION(FcPatternCreate);
  LIMPID_FUNCTION(FcPatternDestroy);
  LIMPID_FUNCTION(FcPatternGetInteger);
  LIMPID_FUNCTION(FcPatternGetString);
};

const Fontconfig& fontconfig() {
  static const Fontconfig functions;
  return functions;
}
#undef LIMPID_FUNCTION

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
  if (SDL_GetWindowWMInfo(window, &info) != SDL_TRUE || info.subsystem != SDL_SYSWM_X11 || !x11()) {
    return std::nullopt;
  }
  return info;
}

}  // namespace

void survive_x11_errors() {
  if (!x11()) {
    return;
  }
  x11().XSetErrorHandler([](Display* display, XErrorEvent* error) {
    std::array<char, 128> text{};
    x11().XGetErrorText(display, error->error_code, text.data(), static_cast<int>(text.size()));
    SDL_LogDebug(SDL_LOG_CATEGORY_VIDEO, "X11: request %d: %s", error->request_code, text.data());
    return 0;
  });
  x11().XSetIOErrorHandler(end_without_display);
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
      x11().XChangeProperty(display, info->info.x11.window, property,
                            x11().XInternAtom(display, "UTF8_STRING", False), 8, PropModeReplace,
                            reinterpret_cast<const unsigned char*>(title.data()),
                            static_cast<int>(title.size()));
    };
    set_utf8(x11().XInternAtom(display, "_NET_WM_NAME", False));
    // For window managers without that property: in ICCCM's encoding, unless Xlib omits characters.
    std::string text = title;
    std::array<char*, 1> list{text.data()};
    XTextProperty name{};
    const int outcome = x11().Xutf8TextListToTextProperty(display, list.data(), 1, XStdICCTextStyle, &name);
    if (outcome == Success) {
      x11().XSetWMName(display, info->info.x11.window, &name);
    } else {
      set_utf8(XA_WM_NAME);
    }
    if (outcome >= Success) {
      x11().XFree(name.value);
    }
    x11().XFlush(display);
  }
  return info.has_value();
}

double x11_text_scale(SDL_Window* window) {
  constexpr double kUsualDpi = 96;
  const std::optional<SDL_SysWMinfo> info = x11_info(window);
  const char* const dpi = info ? x11().XGetDefault(info->info.x11.display, "Xft", "dpi") : nullptr;
  return dpi != nullptr ? std::clamp(std::strtod(dpi, nullptr) / kUsualDpi, 0.5, 4.0) : 1;
}

void prepare_x11_destruction(SDL_Window* window) {
  if (const std::optional<SDL_SysWMinfo> info = x11_info(window)) {
    XEvent hidden{};
    hidden.xunmap.type = UnmapNotify;
    hidden.xunmap.display = info->info.x11.display;
    hidden.xunmap.event = hidden.xunmap.window = info->info.x11.window;
    x11().XPutBackEvent(info->info.x11.display, &hidden);
  }
}

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
  if (void* const loaded = SDL_LoadObject(library); loaded != nullptr) {
    if (void* const found = SDL_LoadFunction(loaded, setter); found != nullptr) {
      reinterpret_cast<Result (*)(Handler)>(found)(handler);
    }
  }
}

}  // namespace

void silence_libraries() {
  set_handler<int, AlsaHandler>("libasound.so.2", "snd_lib_error_set_handler", ignore_alsa);
  set_handler<void, WaylandHandler>("libwayland-client.so.0", "wl_log_set_handler_client", ignore_wayland);
}

Fonts::Fonts()
    : config_(fontconfig() ? fontconfig().FcInitLoadConfigAndFonts() : nullptr, [](FcConfig* config) {
        if (config != nullptr) {
          fontconfig().FcConfigDestroy(config);
        }
      }) {}

FontFile Fonts::find(const std::vector<std::uint32_t>& characters) const {
  if (config_ == nullptr) {
    return {};
  }
  const Fontconfig& fc = fontconfig();
  const std::unique_ptr<FcPattern, decltype(fc.FcPatternDestroy)> wanted(fc.FcPatternCreate(),
                                                                         fc.FcPatternDestroy);
  const std::unique_ptr<FcCharSet, decltype(fc.FcCharSetDestroy)> set(fc.FcCharSetCreate(),
                                                                      fc.FcCharSetDestroy);
  for (const std::uint32_t character : characters) {
    fc.FcCharSetAddChar(set.get(), character);
  }
  fc.FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  fc.FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  fc.FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  fc.FcConfigSubstitute(config_.get(), wanted.get(), FcMatchPattern);
  fc.FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultMatch;
  const std::unique_ptr<FcPattern, decltype(fc.FcPatternDestroy)> found(
      fc.FcFontMatch(config_.get(), wanted.get(), &result), fc.FcPatternDestroy);
  FcChar8* file = nullptr;
  int index = 0;
  if (found == nullptr || fc.FcPatternGetString(found.get(), FC_FILE, 0, &file) != FcResultMatch) {
    return {};
  }
  fc.FcPatternGetInteger(found.get(), FC_INDEX, 0, &index);
  return {reinterpret_cast<const char*>(file), index & 0xFFFF};  // above: which of a variable font's forms
}

}  // namespace limpid::io
