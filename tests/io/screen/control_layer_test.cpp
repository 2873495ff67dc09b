// SPDX-License-Identifier: MIT
#include "io/screen/control_layer.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "io/screen/window.h"

namespace limpid::io {
namespace {

class ControlLayerTest : public testing::Test {
 protected:
  static constexpr Size kSize{320, 240};

  static Window window() {
    setenv("SDL_VIDEODRIVER", "offscreen", 1);
    return Window({.title = "controls", .size = kSize, .fixed = true, .vsync = false});
  }
  static bool has_glyph(ImWchar character) {
    return ControlLayer::overlay_font()->FindGlyphNoFallback(character) != nullptr;
  }
  static void draw(ControlLayer& layer) {
    layer.begin(kSize, 1, 12);
    layer.end();
  }
};

TEST_F(ControlLayerTest, CharactersOfATextAreInTheNextFrame) {
  const Window screen = window();
  ControlLayer layer;
  draw(layer);
  EXPECT_TRUE(has_glyph('a'));
  EXPECT_TRUE(has_glyph(0x44F)) << "Cyrillic";
  constexpr ImWchar kSnowman = 0x2603;
  EXPECT_FALSE(has_glyph(kSnowman));
  EXPECT_EQ(layer.text("\u2603 and \xFF"), "\u2603 and ?");
  EXPECT_TRUE(layer.has_events()) << "another frame is to be drawn";
  draw(layer);
  EXPECT_TRUE(has_glyph(kSnowman));
  EXPECT_FALSE(layer.has_events());
  layer.text("\u2603");
  EXPECT_FALSE(layer.has_events());
}

TEST_F(ControlLayerTest, TheOverlayHasAFontOfItsOwnSize) {
  const Window screen = window();
  ControlLayer layer;
  for (const int size : {12, 31}) {
    layer.begin(kSize, 1, size);
    layer.end();
    EXPECT_EQ(ControlLayer::overlay_font()->FontSize, size);
  }
}

}  // namespace
}  // namespace limpid::io
