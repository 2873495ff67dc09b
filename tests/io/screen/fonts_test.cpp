// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <vector>

#include "io/screen/control_layer.h"

namespace limpid::io {
namespace {

TEST(FontsTest, FindsAFontForPlainText) {
  const Fonts fonts;
  EXPECT_FALSE(fonts.find().path.empty());
  EXPECT_EQ(fonts.find({'a'}), fonts.find());
}

TEST(FontsTest, ReplacesInvalidUtf8) {
  EXPECT_EQ(valid_utf8("a\u00FC\u6771\U0001F600"), "a\u00FC\u6771\U0001F600");
  EXPECT_EQ(valid_utf8("M\xFCritz"), "M?ritz");
  EXPECT_EQ(valid_utf8("\xE6\x9D"), "??") << "cut short";
  EXPECT_EQ(valid_utf8("\xC0\x80"), "??") << "longer than need be";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "???") << "half of a pair";
  EXPECT_EQ(valid_utf8(""), "");
}

TEST(FontsTest, DecodesCharacters) {
  EXPECT_EQ(characters_of("a\u00FC\u6771\xFC"), (std::vector<std::uint32_t>{'a', 0xFC, 0x6771, '?'}));
}

}  // namespace
}  // namespace limpid::io
