// SPDX-License-Identifier: MIT
// Text over the picture: names of any script, in boxes no wider than the window.
#include "io/screen/lettering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace limpid::io {
namespace {

constexpr int kLineHeight = 20;

TEST(LetteringTest, WritesWhatIsNotAscii) {
  Lettering lettering;
  const auto pixels = [&](const std::string& text) {
    return lettering.box({text}, kLineHeight, 1000).pixels;
  };
  EXPECT_NE(pixels("\u00FC"), pixels("?"));
  EXPECT_NE(pixels("\u00FC"), pixels("u"));
  EXPECT_NE(pixels("\u043A\u0430"), pixels("??"));
  EXPECT_EQ(pixels("\xFC"), pixels("?")) << "no UTF-8";
}

TEST(LetteringTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(valid_utf8("a\u00FC\u6771\U0001F600"), "a\u00FC\u6771\U0001F600");
  EXPECT_EQ(valid_utf8("M\xFCritz"), "M?ritz");
  EXPECT_EQ(valid_utf8("\xE6\x9D"), "??") << "cut short";
  EXPECT_EQ(valid_utf8("\xC0\x80"), "??") << "longer than need be";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "???") << "a half of a pair";
  EXPECT_EQ(valid_utf8(""), "");
}

TEST(LetteringTest, GoesOnInTheNextLineWhereTheBoxEnds) {
  Lettering lettering;
  const std::string words = "5 s back, forward; with Shift, or PGDN PGUP: 60 s";
  const RgbImage wide = lettering.box({words}, kLineHeight, 2000);
  const RgbImage narrow = lettering.box({words}, kLineHeight, wide.width / 2);
  EXPECT_LE(narrow.width, wide.width / 2);
  EXPECT_GE(narrow.height, wide.height + kLineHeight * 3 / 4);
  const RgbImage name = lettering.box({std::string(200, 'x')}, kLineHeight, 150);
  EXPECT_LE(name.width, 150) << "one word";
  EXPECT_GT(name.height, 5 * kLineHeight);
  EXPECT_GT(lettering.box({"a", "", "b"}, kLineHeight, 150).height,
            lettering.box({"a", "b"}, kLineHeight, 150).height);
  EXPECT_GT(lettering.box({"a"}, kLineHeight, 1).height, 0);
}

TEST(LetteringTest, ColumnsBeginBelowEachOther) {
  Lettering lettering;
  const RgbImage box =
      lettering.box({"iii\taction, action, action", "WWWWWW\taction, action, action"}, kLineHeight, 1000);
  const int columns = lettering.box({"WWWWWW"}, kLineHeight, 1000).width;
  const auto first_light = [&](int from, int to) {
    int first = box.width;
    for (int y = from; y < to; ++y) {
      // Behind the longer of the keys.
      for (int x = columns; x < first; ++x) {
        first = green(box.row(y)[x]) > 128 ? x : first;
      }
    }
    return first;
  };
  const int middle = box.height / 2;
  EXPECT_LT(first_light(0, middle), box.width);
  EXPECT_EQ(first_light(0, middle), first_light(middle, box.height));
}

}  // namespace
}  // namespace limpid::io
