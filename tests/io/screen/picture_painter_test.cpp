// SPDX-License-Identifier: MIT
// The shaders against the conversion on the CPU.
#include "io/screen/picture_painter.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "io/screen/display.h"
#include "io/screen/gl.h"
#include "io/screen/window.h"
#include "tests/oracle/pictures.h"

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

PFNGLGETINTEGERVPROC get_integers = nullptr;  // OpenGL's
void APIENTRY get_limited_integers(GLenum name, GLint* value) {
  get_integers(name, value);
  if (name == GL_MAX_TEXTURE_SIZE && LargestTexture::current > 0) {
    *value = LargestTexture::current;
  }
}

}  // namespace

// In place of SDL's, for the code under test.
extern "C" void* SDL_GL_GetProcAddress(const char* name) {
  using Function = void* (*)(const char*);
  void* const found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "SDL_GL_GetProcAddress"))(name);
  if (std::string_view(name) != "glGetIntegerv") {
    return found;
  }
  get_integers = reinterpret_cast<PFNGLGETINTEGERVPROC>(found);
  return reinterpret_cast<void*>(&get_limited_integers);
}

namespace {

WindowOptions hidden(int width, int height) {
  setenv("SDL_VIDEODRIVER", "offscreen", 1);
  return {.title = "picture", .size = {width, height}, .fixed = true, .vsync = false};
}

/// Greatest difference of two pictures in any channel.
int greatest_difference(const RgbImage& a, const RgbImage& b) {
  int greatest = a.width == b.width && a.height == b.height ? 0 : 255;
  for (std::size_t i = 0; greatest < 255 && i < a.pixels.size(); ++i) {
    for (const auto channel : {red, green, blue}) {
      greatest = std::max(greatest, std::abs(channel(a.pixels[i]) - channel(b.pixels[i])));
    }
  }
  return greatest;
}

struct Look {
  std::string name;
  FrameFormat format;
  DisplayProperties properties;
};

std::vector<Look> looks() {
  const FrameFormat sdr = oracle::yuv(46, 34, 1, 1);
  const FrameFormat deep = oracle::yuv(46, 34, 1, 1, 10);
  FrameFormat gray = sdr;
  gray.color_model = ColorModel::kGray;
  gray.chroma_shift_x = gray.chroma_shift_y = 0;
  FrameFormat rgb = gray;
  rgb.color_model = ColorModel::kRgb;
  FrameFormat real = rgb;
  real.sample_type = SampleType::kFloat32;
  real.bit_depth = 32;
  DisplayProperties centered;
  centered.chroma_x = centered.chroma_y = 0.5;
  DisplayProperties full;
  full.range = ColorRange::kFull;
  full.matrix = ColorMatrix::kBt601;
  DisplayProperties pq;
  pq.transfer = Transfer::kPq;
  pq.matrix = ColorMatrix::kBt2020;
  pq.wide_gamut = true;
  DisplayProperties hlg = pq;
  hlg.transfer = Transfer::kHlg;
  DisplayProperties wide = pq;
  wide.transfer = Transfer::kSdr;
  std::vector<Look> all{{"SDR", sdr, {}},
                        {"centered chroma", sdr, centered},
                        {"full range", sdr, full},
                        {"4:2:2", oracle::yuv(46, 34, 1, 0), {}},
                        {"4:4:4", oracle::yuv(46, 34, 0, 0, 12), {}},
                        {"10 bit", deep, {}},
                        {"gray", gray, full},
                        {"RGB", rgb, full},
                        {"float", real, full},
                        {"PQ", deep, pq},
                        {"HLG", deep, hlg},
                        {"wide gamut", deep, wide}};
  for (int turn = 1; turn < 8; ++turn) {
    Look look{"turned " + std::to_string(turn), sdr, {}};
    look.properties.orientation = {(turn & 1) != 0, (turn & 2) != 0, (turn & 4) != 0};
    all.push_back(look);
  }
  return all;
}

TEST(PicturePainterTest, ShowsWhatFilesHave) {
  for (const Look& look : looks()) {
    const Frame frame = oracle::draw_picture(look.format);
    const Frame noisy = oracle::add_noise(frame, 4, 1);
    const RgbImage expected = screen_picture(frame, look.properties);
    const RgbImage other = screen_picture(noisy, look.properties);
    const Size size{expected.width, expected.height};
    Window window(hidden(size.width, size.height));
    PicturePainter painter(look.format, look.properties);
    painter.set_first(noisy);
    painter.set_second(frame);
    const Rectangle all{0, 0, size.width, size.height};
    const auto shown = [&](PictureChoice choice, double gain = 1) {
      window.clear();
      painter.draw({all, all, all, false, choice, {{"gain", gain}}}, size);
      return window.snapshot();
    };
    constexpr int kRounding = 3;  // displays interpolate chroma in 8 bits
    EXPECT_LE(greatest_difference(shown(PictureChoice::kSecond), expected), kRounding) << look.name;
    EXPECT_LE(greatest_difference(shown(PictureChoice::kFirst), other), kRounding) << look.name;
    for (const Pixel pixel : shown(PictureChoice::kDifference, 3).pixels) {
      ASSERT_EQ(red(pixel), green(pixel)) << look.name;
      ASSERT_EQ(red(pixel), blue(pixel)) << look.name;
      ASSERT_NEAR(red(pixel), 128, 30) << look.name << ": the noise is small, and averaged";
    }
    EXPECT_THROW(painter.set_first(oracle::draw_picture(oracle::yuv(8, 8, 1, 1))), Error);
  }
}

TEST(PicturePainterTest, DifferencesShowLostDetailAndNoNoise) {
  const FrameFormat format{.width = 96, .height = 64};
  const Frame flat = allocate_frame(format);
  const Frame detailed = allocate_frame(format);
  for (int y = 0; y < format.height; ++y) {
    std::fill_n(flat.planes[0].row<std::uint8_t>(y), 96, std::uint8_t{100});
    std::fill_n(detailed.planes[0].row<std::uint8_t>(y), 96, std::uint8_t{100});
    std::fill_n(detailed.planes[0].row<std::uint8_t>(y) + 60, 6, std::uint8_t{110});  // a line that is lost
  }
  const Frame noisy = oracle::add_noise(detailed, 10, 1);
  Window window(hidden(96, 64));
  DisplayProperties full;
  full.range = ColorRange::kFull;
  PicturePainter painter(format, full);
  painter.set_first(noisy);
  painter.set_second(flat);
  const Rectangle all{0, 0, 96, 64};
  painter.draw({all, all, all, false, PictureChoice::kDifference, {{"gain", 4}}}, window.size());
  const RgbImage shown = window.snapshot();
  double squares = 0;
  double line = 0;
  for (int y = 4; y < 60; ++y) {
    for (int x = 4; x < 52; ++x) {
      squares += std::pow(green(shown.row(y)[x]) - 128, 2);
    }
    line += green(shown.row(y)[62]) - 128;
  }
  EXPECT_LT(std::sqrt(squares / (56 * 48)), 0.3 * 4 * 10) << "less than a third of the noise is left";
  EXPECT_NEAR(line / 56, 4 * 10, 8) << "the line is not";
}

TEST(PicturePainterTest, DrawsAPartWithinItsClip) {
  const FrameFormat format{.width = 40, .height = 20};
  const Frame frame = allocate_frame(format);
  for (int y = 0; y < format.height; ++y) {
    std::fill_n(frame.planes[0].row<std::uint8_t>(y), 20, std::uint8_t{40});
    std::fill_n(frame.planes[0].row<std::uint8_t>(y) + 20, 20, std::uint8_t{200});
  }
  Window window(hidden(80, 40));
  DisplayProperties full;
  full.range = ColorRange::kFull;
  PicturePainter painter(format, full);
  painter.set_first(frame);
  window.clear();
  painter.draw({{20, 0, 20, 20}, {0, 0, 80, 80}, {10, 20, 30, 10}}, window.size());
  const RgbImage picture = window.snapshot();
  EXPECT_EQ(green(picture.row(25)[12]), 200);
  EXPECT_EQ(green(picture.row(25)[8]), 0) << "left of the clip";
  EXPECT_EQ(green(picture.row(31)[12]), 0) << "below it";
}

TEST(PicturePainterTest, ShowsWhatIsTooLargeForATexture) {
  Window window(hidden(200, 100));
  const LargestTexture limit(64);
  for (const int height : {20, 2}) {
    const FrameFormat format{.width = 400, .height = height};
    const Frame wide = allocate_frame(format);
    for (int y = 0; y < height; ++y) {
      std::fill_n(wide.planes[0].row<std::uint8_t>(y), 200, std::uint8_t{50});
      std::fill_n(wide.planes[0].row<std::uint8_t>(y) + 200, 200, std::uint8_t{150});
    }
    DisplayProperties full;
    full.range = ColorRange::kFull;
    PicturePainter painter(format, full);
    painter.set_first(wide);
    const Rectangle all{0, 0, 200, 100};
    const auto shown = [&](const Rectangle& part, int x) {
      window.clear();
      painter.draw({part, all, all}, window.size());
      return green(window.snapshot().row(50)[x]);
    };
    EXPECT_EQ(shown({0, 0, 400, height}, 90), 50);
    EXPECT_EQ(shown({0, 0, 400, height}, 115), 150);
    EXPECT_EQ(shown({210, 0, 190, height}, 10), 150) << "a close-up of the right half";
  }
}

}  // namespace
}  // namespace limpid::io
