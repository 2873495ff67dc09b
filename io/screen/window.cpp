// SPDX-License-Identifier: MIT
#include "io/screen/window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "io/screen/gl.h"
#include "io/screen/sdl.h"

namespace limpid::io {

namespace {

// Greatest share of the screen that a window takes when it opens.
constexpr double kGreatestShare = 0.9;
// In pixels, unless a size is given: nothing can be seen in a window that is narrower.
constexpr int kLeastLength = 240;

std::string opening() {
  const char* const display = SDL_getenv("WAYLAND_DISPLAY") != nullptr ? nullptr : SDL_getenv("DISPLAY");
  return "can't open a window" +
         (display == nullptr ? "" : " on the display '" + std::string(display) + "'") +
         " (limpid denoise and limpid webcam --no-window need none)";
}

std::string_view key_name(SDL_Keycode key) {
  static constexpr std::array<std::pair<SDL_Keycode, std::string_view>, 14> kNames{
      {{SDLK_LEFT, "LEFT"},
       {SDLK_RIGHT, "RIGHT"},
       {SDLK_UP, "UP"},
       {SDLK_DOWN, "DOWN"},
       {SDLK_PAGEUP, "PGUP"},
       {SDLK_PAGEDOWN, "PGDN"},
       {SDLK_HOME, "HOME"},
       {SDLK_END, "END"},
       {SDLK_ESCAPE, "ESC"},
       {SDLK_RETURN, "ENTER"},
       {SDLK_KP_ENTER, "ENTER"},
       {SDLK_BACKSPACE, "BACKSPACE"},
       {SDLK_DELETE, "DELETE"},
       {SDLK_TAB, "TAB"}}};
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [key](const auto& entry) { return entry.first == key; });
  return found == kNames.end() ? std::string_view() : found->second;
}

WindowEvent event_of(WindowEvent::Kind kind) {
  WindowEvent event;
  event.kind = kind;
  return event;
}

WindowEvent key_event(std::string key) {
  WindowEvent event = event_of(WindowEvent::Kind::kKey);
  event.key = std::move(key);
  return event;
}

// Nothing for keys that type text, which comes as an event of its own, in the keyboard's layout.
std::optional<WindowEvent> translate_key(const SDL_KeyboardEvent& pressed) {
  const SDL_Keysym& key = pressed.keysym;
  const std::string_view name = key_name(key.sym);
  WindowEvent event;
  if ((key.mod & KMOD_CTRL) != 0 && key.sym >= SDLK_a && key.sym <= SDLK_z) {
    event = key_event(std::string("Ctrl+") + static_cast<char>('A' + key.sym - SDLK_a));
  } else if (!name.empty()) {
    const char* const held = (key.mod & KMOD_CTRL) != 0    ? "Ctrl+"
                             : (key.mod & KMOD_SHIFT) != 0 ? "Shift+"
                                                           : "";
    event = key_event(held + std::string(name));
  } else {
    return std::nullopt;
  }
  event.repeats = pressed.repeat != 0;
  return event;
}

std::optional<WindowEvent> translate_state(const SDL_WindowEvent& event) {
  using Kind = WindowEvent::Kind;
  switch (event.event) {
    case SDL_WINDOWEVENT_CLOSE:
      return event_of(Kind::kClose);
    case SDL_WINDOWEVENT_LEAVE:
      return event_of(Kind::kLeave);
    case SDL_WINDOWEVENT_EXPOSED:
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_SIZE_CHANGED:
      return event_of(Kind::kChanged);
    default:
      return std::nullopt;
  }
}

// The size of a window for the screen, as SDL reports it. `unit`: pixels to 1/96 inch.
Size fitting_size(const WindowOptions& options, double unit) {
  SDL_Rect screen{};
  const bool known = SDL_GetDisplayUsableBounds(0, &screen) == 0;
  const double width = kGreatestShare * screen.w;
  const double height = kGreatestShare * screen.h;
  const double scale =
      known ? std::min({1.0, width / options.size.width, height / options.size.height}) : 1.0;
  const auto length = [&](int wished, int least, double most) {
    const int limited = known ? std::min(least, static_cast<int>(most)) : least;
    return std::max({kLeastLength, limited, static_cast<int>(wished * scale)});
  };
  const auto least = [unit](int units) { return static_cast<int>(std::lround(units * unit)); };
  return {length(options.size.width, least(options.least.width), width),
          length(options.size.height, least(options.least.height), height)};
}

// Asks for an OpenGL of 2009, which ImGui and the shaders of io can do with.
void request_opengl() {
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 2);
  SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
  SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
  SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0);
}

}  // namespace

void* opengl_function(const char* name) {
  void* const function = SDL_GL_GetProcAddress(name);
  sdl_check(function != nullptr, std::string("OpenGL lacks ") + name);
  return function;
}

struct Window::State : NotCopyable {
  explicit State(const WindowOptions& options) { loss.emplace(options.display_lost); }
  ~State() { prepare_x11_destruction(window.get()); }

  std::optional<WindowEvent> translate(const SDL_Event& event);
  std::optional<WindowEvent> translate_pointer(const SDL_Event& event) const;
  void place(WindowEvent& event, int x, int y) const;

  std::optional<X11LossHandler> loss;
  SdlSubsystem video{SDL_INIT_VIDEO, opening()};
  Uint32 wake_type = 0;
  bool key_repeats = false;  // of the last key, whose text is an event of its own
  std::unique_ptr<SDL_Window, SdlDeleter> window;
  std::unique_ptr<void, SdlDeleter> context;
};

Window::Window(const WindowOptions& options) : state_(std::make_unique<State>(options)) {
  // Without a display, SDL draws into memory. This must be requested.
  if (!is_on_screen() && SDL_getenv("SDL_VIDEODRIVER") == nullptr) {
    throw Error(opening() + ": there is no display (SDL_VIDEODRIVER=offscreen does without one)");
  }
  state_->wake_type = SDL_RegisterEvents(1);
  watch_x11_windows();
  const Size size = options.fixed ? options.size : fitting_size(options, 1);
  request_opengl();
  const Uint32 flags = SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
  state_->window.reset(
      SDL_CreateWindow("", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, size.width, size.height, flags));
  sdl_check(state_->window != nullptr, opening());
  state_->context.reset(SDL_GL_CreateContext(state_->window.get()));
  sdl_check(state_->context != nullptr, opening());
  SDL_GL_SetSwapInterval(options.vsync ? 1 : 0);
  if (const double unit = x11_text_scale(state_->window.get()); !options.fixed && unit != 1) {
    const Size scaled = fitting_size(options, unit);
    SDL_SetWindowSize(state_->window.get(), scaled.width, scaled.height);
  }
  set_title(options.title);
  SDL_StartTextInput();
}

Window::~Window() = default;

Size Window::size() const {
  Size size;
  SDL_GL_GetDrawableSize(state_->window.get(), &size.width, &size.height);
  return size;
}

double Window::pixel_ratio() const {
  int width = 0;
  SDL_GetWindowSize(state_->window.get(), &width, nullptr);
  return width > 0 ? static_cast<double>(size().width) / width : 1;
}

bool Window::is_on_screen() const {
  const std::string_view driver = SDL_GetCurrentVideoDriver();
  return driver != "offscreen" && driver != "dummy";
}

bool Window::is_visible() const {
  return (SDL_GetWindowFlags(state_->window.get()) & (SDL_WINDOW_HIDDEN | SDL_WINDOW_MINIMIZED)) == 0;
}

double Window::scale() const { return pixel_ratio() * x11_text_scale(state_->window.get()); }

bool Window::is_full_screen() const {
  return (SDL_GetWindowFlags(state_->window.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
}

void Window::toggle_full_screen() {
  SDL_SetWindowFullscreen(state_->window.get(),
                          is_full_screen() ? 0U : Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP});
}

void Window::hide() {
  SDL_HideWindow(state_->window.get());
  SDL_PumpEvents();
}

void Window::show_pointer(bool shown) { SDL_ShowCursor(shown ? SDL_ENABLE : SDL_DISABLE); }

void Window::set_title(const std::string& title) {
  // SDL would leak titles that ICCCM's coding can't hold.
  if (!set_x11_title(state_->window.get(), title)) {
    SDL_SetWindowTitle(state_->window.get(), title.c_str());
  }
}

void Window::set_display_lost(std::function<void()> display_lost) {
  state_->loss.reset();  // there is one at a time
  state_->loss.emplace(std::move(display_lost));
}

void Window::copy(const std::string& text) { SDL_SetClipboardText(text.c_str()); }

void Window::State::place(WindowEvent& event, int x, int y) const {
  Size units;
  Size pixels;
  SDL_GetWindowSize(window.get(), &units.width, &units.height);
  SDL_GL_GetDrawableSize(window.get(), &pixels.width, &pixels.height);
  const double ratio = units.width > 0 ? static_cast<double>(pixels.width) / units.width : 1;
  event.x = x * ratio;
  event.y = y * ratio;
  event.dx *= ratio;
  event.dy *= ratio;
}

std::optional<WindowEvent> Window::State::translate(const SDL_Event& event) {
  using Kind = WindowEvent::Kind;
  switch (event.type) {
    case SDL_QUIT:
      return event_of(Kind::kClose);
    case SDL_WINDOWEVENT:
      return translate_state(event.window);
    case SDL_KEYDOWN:
      key_repeats = event.key.repeat != 0;
      return translate_key(event.key);
    case SDL_KEYUP:
      key_repeats = false;
      return std::nullopt;
    case SDL_TEXTINPUT: {
      WindowEvent text = key_event(event.text.text);
      text.repeats = key_repeats;
      return text;
    }
    case SDL_MOUSEMOTION:
    case SDL_MOUSEWHEEL:
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
      return translate_pointer(event);
    case SDL_DROPFILE: {
      const std::unique_ptr<char, decltype(&SDL_free)> path(event.drop.file, &SDL_free);
      WindowEvent file = event_of(Kind::kFile);
      file.path = path.get();
      return file;
    }
    case SDL_SYSWMEVENT:
      if (is_destruction(event, window.get())) {
        WindowEvent close = event_of(Kind::kClose);
        close.is_lost = true;
        return close;
      }
      return std::nullopt;
    default:
      return event.type == wake_type ? std::optional(event_of(Kind::kWake)) : std::nullopt;
  }
}

// Events of the mouse, or of a finger.
std::optional<WindowEvent> Window::State::translate_pointer(const SDL_Event& event) const {
  using Kind = WindowEvent::Kind;
  WindowEvent result;
  if (event.type == SDL_MOUSEMOTION) {
    result.kind = event.motion.state == 0 ? Kind::kPointer : Kind::kDrag;
    result.touch = event.motion.which == SDL_TOUCH_MOUSEID;
    result.right = event.motion.state == SDL_BUTTON_RMASK;
    result.dx = event.motion.xrel;
    result.dy = event.motion.yrel;
    place(result, event.motion.x, event.motion.y);
    return result;
  }
  if (event.type == SDL_MOUSEWHEEL) {
    result.kind = Kind::kWheel;
    place(result, event.wheel.mouseX, event.wheel.mouseY);
    result.dy = event.wheel.y;
    return result;
  }
  if (event.button.button != SDL_BUTTON_LEFT && event.button.button != SDL_BUTTON_RIGHT) {
    return std::nullopt;
  }
  result.kind = event.type == SDL_MOUSEBUTTONDOWN ? Kind::kPress : Kind::kRelease;
  result.right = event.button.button == SDL_BUTTON_RIGHT;
  result.clicks = event.button.clicks % 2 == 0 && event.button.clicks > 0 ? 2 : 1;
  place(result, event.button.x, event.button.y);
  return result;
}

std::optional<WindowEvent> Window::wait(std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  SDL_Event event;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const int milliseconds = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    if (SDL_WaitEventTimeout(&event, milliseconds) == 0) {
      return std::nullopt;
    }
    if (std::optional<WindowEvent> translated = state_->translate(event)) {
      return translated;
    }
  }
}

void Window::wake() {
  SDL_Event event{};
  event.type = state_->wake_type;
  SDL_PushEvent(&event);
}

void Window::clear() {
  const Size pixels = size();
  glViewport(0, 0, pixels.width, pixels.height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

RgbImage Window::snapshot() const {
  const Size pixels = size();
  RgbImage upside_down;
  upside_down.resize(pixels.width, pixels.height);
  glReadPixels(0, 0, pixels.width, pixels.height, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV,
               upside_down.pixels.data());
  RgbImage image;
  image.resize(pixels.width, pixels.height);
  for (int y = 0; y < image.height; ++y) {
    std::transform(upside_down.row(image.height - 1 - y), upside_down.row(image.height - 1 - y) + image.width,
                   image.row(y), [](Pixel pixel) { return pixel | 0xFF000000U; });
  }
  return image;
}

void Window::present() { SDL_GL_SwapWindow(state_->window.get()); }

}  // namespace limpid::io
