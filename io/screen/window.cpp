// SPDX-License-Identifier: MIT
#include "io/screen/window.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "io/screen/sdl.h"

namespace limpid::io {
namespace {

// Of the screen that a window takes at most when it opens.
constexpr double kGreatestShare = 0.9;
// Pixels, unless its size is asked for.
constexpr int kLeastLength = 240;

std::string opening() {
  const char* const display = SDL_getenv("WAYLAND_DISPLAY") != nullptr ? nullptr : SDL_getenv("DISPLAY");
  return "can't open a window" +
         (display == nullptr ? "" : " on the display '" + std::string(display) + "'") +
         " (limpid denoise needs none)";
}

std::string_view key_name(SDL_Keycode key) {
  static constexpr std::array<std::pair<SDL_Keycode, std::string_view>, 12> kNames{
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
       {SDLK_BACKSPACE, "BACKSPACE"}}};
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [key](const auto& entry) { return entry.first == key; });
  return found == kNames.end() ? std::string_view() : found->second;
}

SDL_Rect to_sdl(const Rectangle& rectangle) {
  return {rectangle.x, rectangle.y, rectangle.width, rectangle.height};
}

}  // namespace

struct Window::State {
  struct Picture {
    std::unique_ptr<SDL_Texture, SdlDeleter> texture;
    Size size;       ///< of the texture
    int factor = 1;  ///< that the picture is larger by
  };

  explicit State(const WindowOptions& options) : loss(options.display_lost) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { prepare_x11_destruction(window.get()); }

  std::optional<WindowEvent> translate(const SDL_Event& event) const;
  void place(WindowEvent& event, int x, int y) const;
  int too_large_by(const RgbImage& image) const;

  X11LossHandler loss;
  SdlSubsystem video{SDL_INIT_VIDEO, opening()};
  Uint32 wake_type = 0;
  std::unique_ptr<SDL_Window, SdlDeleter> window;
  std::unique_ptr<SDL_Renderer, SdlDeleter> renderer;
  std::vector<Picture> pictures;
};

Window::Window(const WindowOptions& options) : state_(std::make_unique<State>(options)) {
  // Where there is no display, SDL draws into memory, which nobody sees unless he asked for it.
  if (!is_on_screen() && SDL_getenv("SDL_VIDEODRIVER") == nullptr) {
    throw Error(opening() + ": there is no display (SDL_VIDEODRIVER=dummy does without one)");
  }
  state_->wake_type = SDL_RegisterEvents(1);
  watch_x11_windows();
  double scale = 1;
  SDL_Rect screen{};
  if (!options.fixed && SDL_GetDisplayUsableBounds(0, &screen) == 0) {
    scale = std::min({1.0, kGreatestShare * screen.w / options.size.width,
                      kGreatestShare * screen.h / options.size.height});
  }
  // Nothing can be seen of a window that is only as wide as a thread.
  const int least = options.fixed ? 1 : kLeastLength;
  const auto scaled = [&](int length) { return std::max(least, static_cast<int>(length * scale)); };
  const Uint32 flags = SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                       (options.full_screen ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0U);
  state_->window.reset(SDL_CreateWindow("", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED,
                                        scaled(options.size.width), scaled(options.size.height), flags));
  sdl_check(state_->window != nullptr, opening());
  // SDL would leak titles that ICCCM's coding can't hold.
  if (!set_x11_title(state_->window.get(), options.title)) {
    SDL_SetWindowTitle(state_->window.get(), options.title.c_str());
  }
  state_->renderer.reset(
      SDL_CreateRenderer(state_->window.get(), -1, options.vsync ? Uint32{SDL_RENDERER_PRESENTVSYNC} : 0U));
  sdl_check(state_->renderer != nullptr, opening());
  SDL_StartTextInput();
}

Window::~Window() = default;

Size Window::size() const {
  Size size;
  sdl_check(SDL_GetRendererOutputSize(state_->renderer.get(), &size.width, &size.height) == 0,
            "can't tell the window's size");
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

double Window::dots_per_inch() const {
  constexpr double kUsual = 96;
  float told = 0;
  const int display = std::max(SDL_GetWindowDisplayIndex(state_->window.get()), 0);
  // Projectors, virtual screens and some televisions tell nonsense.
  const bool tells = SDL_GetDisplayDPI(display, nullptr, &told, nullptr) == 0 && told < 600;
  return std::max(tells ? double{told} : kUsual, kUsual * pixel_ratio());
}

bool Window::is_full_screen() const {
  return (SDL_GetWindowFlags(state_->window.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
}

void Window::toggle_full_screen() {
  SDL_SetWindowFullscreen(state_->window.get(),
                          is_full_screen() ? 0U : Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP});
}

void Window::State::place(WindowEvent& event, int x, int y) const {
  Size units;
  Size pixels;
  SDL_GetWindowSize(window.get(), &units.width, &units.height);
  SDL_GetRendererOutputSize(renderer.get(), &pixels.width, &pixels.height);
  const double ratio = units.width > 0 ? static_cast<double>(pixels.width) / units.width : 1;
  event.x = x * ratio;
  event.y = y * ratio;
  event.dx *= ratio;
  event.dy *= ratio;
}

/// The whole number that a picture has to be divided by to be a texture.
int Window::State::too_large_by(const RgbImage& image) const {
  SDL_RendererInfo info{};
  if (SDL_GetRendererInfo(renderer.get(), &info) != 0) {
    return 1;
  }
  int factor = 1;
  for (const auto& [length, most] :
       {std::pair{image.width, info.max_texture_width}, std::pair{image.height, info.max_texture_height}}) {
    factor = most > 0 ? std::max(factor, (length + most - 1) / most) : factor;
  }
  return factor;
}

std::optional<WindowEvent> Window::State::translate(const SDL_Event& event) const {
  using Kind = WindowEvent::Kind;
  WindowEvent result;
  switch (event.type) {
    case SDL_QUIT:
      result.kind = Kind::kClose;
      return result;
    case SDL_WINDOWEVENT:
      switch (event.window.event) {
        case SDL_WINDOWEVENT_CLOSE:
          result.kind = Kind::kClose;
          return result;
        case SDL_WINDOWEVENT_LEAVE:
          result.kind = Kind::kLeave;
          return result;
        case SDL_WINDOWEVENT_EXPOSED:
        case SDL_WINDOWEVENT_SHOWN:
        case SDL_WINDOWEVENT_RESTORED:
        case SDL_WINDOWEVENT_SIZE_CHANGED:
          result.kind = Kind::kChanged;
          return result;
        default:
          return std::nullopt;
      }
    case SDL_KEYDOWN: {
      const std::string_view name = key_name(event.key.keysym.sym);
      if (name.empty()) {
        return std::nullopt;  // what it types comes as text, in the keyboard's own layout
      }
      result.kind = Kind::kKey;
      result.key = (event.key.keysym.mod & KMOD_SHIFT) != 0 ? "Shift+" : "";
      result.key += name;
      return result;
    }
    case SDL_TEXTINPUT:
      result.kind = Kind::kKey;
      result.key = event.text.text;
      return result;
    case SDL_MOUSEMOTION:
      result.kind = event.motion.state == 0 ? Kind::kPointer : Kind::kDrag;
      result.touch = event.motion.which == SDL_TOUCH_MOUSEID;
      result.right = event.motion.state == SDL_BUTTON_RMASK;
      result.dx = event.motion.xrel;
      result.dy = event.motion.yrel;
      place(result, event.motion.x, event.motion.y);
      return result;
    case SDL_MOUSEWHEEL: {
      result.kind = Kind::kWheel;
      place(result, event.wheel.mouseX, event.wheel.mouseY);
      result.dy = event.wheel.y;
      return result;
    }
    case SDL_MOUSEBUTTONUP:
      result.kind = Kind::kRelease;
      result.right = event.button.button == SDL_BUTTON_RIGHT;
      return result;
    case SDL_MOUSEBUTTONDOWN:
      if (event.button.button != SDL_BUTTON_LEFT || event.button.clicks % 2 != 0) {
        return std::nullopt;
      }
      result.kind = Kind::kDoubleClick;
      place(result, event.button.x, event.button.y);
      return result;
    case SDL_SYSWMEVENT:
      if (!is_destruction(event, window.get())) {
        return std::nullopt;
      }
      result.kind = Kind::kClose;
      return result;
    default:
      if (event.type == wake_type) {
        return result;
      }
      return std::nullopt;
  }
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

void Window::set_picture(std::size_t number, const RgbImage& image, bool translucent) {
  if (number >= state_->pictures.size()) {
    state_->pictures.resize(number + 1);
  }
  auto& [texture, size, factor] = state_->pictures[number];
  factor = state_->too_large_by(image);
  const auto divided = [by = factor](int length) { return (length + by - 1) / by; };  // no side vanishes
  const Size wanted{divided(image.width), divided(image.height)};
  if (texture == nullptr || size != wanted) {
    texture.reset(SDL_CreateTexture(state_->renderer.get(), SDL_PIXELFORMAT_ARGB8888,
                                    SDL_TEXTUREACCESS_STREAMING, wanted.width, wanted.height));
    sdl_check(texture != nullptr, "can't show a picture of " + std::to_string(wanted.width) + "x" +
                                      std::to_string(wanted.height));
    size = wanted;
    SDL_SetTextureBlendMode(texture.get(), translucent ? SDL_BLENDMODE_BLEND : SDL_BLENDMODE_NONE);
  }
  RgbImage smaller;
  if (factor > 1) {
    smaller.resize(wanted.width, wanted.height);
    for (int y = 0; y < wanted.height; ++y) {
      for (int x = 0; x < wanted.width; ++x) {
        smaller.row(y)[x] = image.row(y * factor)[x * factor];
      }
    }
  }
  const RgbImage& shown = factor > 1 ? smaller : image;
  sdl_check(SDL_UpdateTexture(texture.get(), nullptr, shown.pixels.data(),
                              shown.width * static_cast<int>(sizeof(Pixel))) == 0,
            "can't show a picture");
}

void Window::clear() {
  SDL_SetRenderDrawColor(state_->renderer.get(), 0, 0, 0, SDL_ALPHA_OPAQUE);
  SDL_RenderClear(state_->renderer.get());
}

void Window::draw(std::size_t number, const Rectangle& source, const Rectangle& target, const Rectangle& clip,
                  bool smooth) {
  const State::Picture& picture = state_->pictures.at(number);
  SDL_Texture* const texture = picture.texture.get();
  SDL_Rect from = to_sdl(source);
  if (picture.factor > 1) {
    from = {from.x / picture.factor, from.y / picture.factor, std::max(from.w / picture.factor, 1),
            std::max(from.h / picture.factor, 1)};
  }
  const SDL_Rect to = to_sdl(target);
  const SDL_Rect within = to_sdl(clip);
  if (texture == nullptr || from.w <= 0 || from.h <= 0 || to.w <= 0 || to.h <= 0 || within.w <= 0 ||
      within.h <= 0) {
    return;
  }
  SDL_SetTextureScaleMode(texture, smooth ? SDL_ScaleModeLinear : SDL_ScaleModeNearest);
  SDL_RenderSetClipRect(state_->renderer.get(), &within);
  SDL_RenderCopy(state_->renderer.get(), texture, &from, &to);
  SDL_RenderSetClipRect(state_->renderer.get(), nullptr);
}

void Window::draw(std::size_t number, int x, int y) {
  const auto& [texture, size, factor] = state_->pictures.at(number);
  const SDL_Rect to{x, y, size.width, size.height};
  SDL_RenderCopy(state_->renderer.get(), texture.get(), nullptr, &to);
}

void Window::fill(const Rectangle& rectangle, Pixel color) {
  const SDL_Rect to = to_sdl(rectangle);
  SDL_SetRenderDrawBlendMode(state_->renderer.get(), SDL_BLENDMODE_BLEND);
  SDL_SetRenderDrawColor(state_->renderer.get(), static_cast<Uint8>(red(color)),
                         static_cast<Uint8>(green(color)), static_cast<Uint8>(blue(color)),
                         static_cast<Uint8>(color >> 24));
  SDL_RenderFillRect(state_->renderer.get(), &to);
}

RgbImage Window::snapshot() const {
  const Size pixels = size();
  RgbImage image;
  image.resize(pixels.width, pixels.height);
  sdl_check(SDL_RenderReadPixels(state_->renderer.get(), nullptr, SDL_PIXELFORMAT_ARGB8888,
                                 image.pixels.data(), image.width * static_cast<int>(sizeof(Pixel))) == 0,
            "can't read the window's picture");
  return image;
}

void Window::present() { SDL_RenderPresent(state_->renderer.get()); }

}  // namespace limpid::io
