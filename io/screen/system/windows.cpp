// SPDX-License-Identifier: MIT
// The desktop on Windows, of which SDL leaves less undone than on X11.
#include <algorithm>
#include <filesystem>

#include "core/base/system.h"
#include "io/screen/control_layer.h"
#include "io/screen/sdl.h"

namespace limpid::io {

void silence_libraries() {}
void survive_x11_errors() {}
X11LossHandler::X11LossHandler(std::function<void()> /*act*/) {}
X11LossHandler::~X11LossHandler() = default;
void watch_x11_windows() {}
bool is_destruction(const SDL_Event& /*event*/, SDL_Window* /*window*/) { return false; }
bool set_x11_title(SDL_Window* /*window*/, const std::string& /*title*/) { return false; }
void prepare_x11_destruction(SDL_Window* /*window*/) {}

double x11_text_scale(SDL_Window* window) {
  constexpr float kUsualDpi = 96;
  float dpi = kUsualDpi;
  return SDL_GetDisplayDPI(SDL_GetWindowDisplayIndex(window), nullptr, &dpi, nullptr) == 0
             ? static_cast<double>(dpi / kUsualDpi)
             : 1;
}

Fonts::Fonts() = default;

/// Windows has these fonts, and no function that searches their characters without drawing.
FontFile Fonts::find(const std::vector<std::uint32_t>& characters) const {
  constexpr std::uint32_t kFirstCjk = 0x2E80;
  const bool is_cjk =
      std::any_of(characters.begin(), characters.end(), [](std::uint32_t each) { return each >= kFirstCjk; });
  const std::filesystem::path fonts = path_of(trusted_variable("SystemRoot")) / "Fonts";
  for (const char* const name :
       {is_cjk ? "YuGothM.ttc" : "segoeui.ttf", "msgothic.ttc", "segoeui.ttf", "arial.ttf", "tahoma.ttf"}) {
    std::error_code ignored;
    if (std::filesystem::exists(fonts / name, ignored)) {
      return {limpid::text_of(fonts / name), 0};
    }
  }
  return {};
}

}  // namespace limpid::io
