// SPDX-License-Identifier: MIT
#include "io/screen/window.h"

#include <SDL.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace limpid::io {
namespace {

/// Lets textures have no longer sides while it lives, as displays do.
class LargestTexture {
 public:
  explicit LargestTexture(int length) { current = length; }
  LargestTexture(const LargestTexture&) = delete;
  LargestTexture& operator=(const LargestTexture&) = delete;
  ~LargestTexture() { current = 0; }
  static inline int current = 0;
};

template <typename Function>
Function* sdl_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// In place of SDL's, for the code under test as well.
extern "C" int SDL_GetRendererInfo(SDL_Renderer* renderer, SDL_RendererInfo* info) {
  const int code = sdl_function<decltype(SDL_GetRendererInfo)>("SDL_GetRendererInfo")(renderer, info);
  if (LargestTexture::current > 0) {
    info->max_texture_width = info->max_texture_height = LargestTexture::current;
  }
  return code;
}
extern "C" SDL_Texture* SDL_CreateTexture(SDL_Renderer* renderer, Uint32 format, int access, int w, int h) {
  if (LargestTexture::current > 0 && (w > LargestTexture::current || h > LargestTexture::current)) {
    SDL_SetError("Texture dimensions are limited to %dx%d", LargestTexture::current, LargestTexture::current);
    return nullptr;
  }
  return sdl_function<decltype(SDL_CreateTexture)>("SDL_CreateTexture")(renderer, format, access, w, h);
}

namespace {

TEST(WindowTest, ShowsWhatIsTooLargeForATexture) {
  setenv("SDL_VIDEODRIVER", "dummy", 1);
  setenv("SDL_RENDER_DRIVER", "software", 1);
  Window window({.title = "wide", .size = {200, 100}, .fixed = true, .vsync = false});
  const LargestTexture limit(64);
  constexpr Pixel kLeft = make_pixel(200, 0, 0);
  constexpr Pixel kRight = make_pixel(0, 0, 200);
  for (const int height : {20, 2}) {
    RgbImage wide;
    wide.resize(400, height);
    for (int y = 0; y < wide.height; ++y) {
      std::fill_n(wide.row(y), 200, kLeft);
      std::fill_n(wide.row(y) + 200, 200, kRight);
    }
    window.set_picture(0, wide);
    const Rectangle all{0, 0, 200, 100};
    const auto shown = [&](const Rectangle& part, int x) {
      window.clear();
      window.draw(0, part, all, all, false);
      const RgbImage picture = window.snapshot();
      return picture.row(50)[x];
    };
    EXPECT_EQ(shown({0, 0, 400, height}, 90), kLeft);
    EXPECT_EQ(shown({0, 0, 400, height}, 110), kRight);
    EXPECT_EQ(shown({200, 0, 200, height}, 10), kRight) << "a close-up of the right half";
  }
}

}  // namespace
}  // namespace limpid::io
