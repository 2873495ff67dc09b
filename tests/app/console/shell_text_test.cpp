// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "app/console/text.h"

namespace limpid::app {
namespace {

TEST(ShellLine, ControlCharactersAreEscapedAsBashReadsThem) {
  EXPECT_EQ(shell_line({"limpid", "a b", "it's"}), R"(limpid 'a b' 'it'\''s')");
  EXPECT_EQ(shell_line({"a\nb\x1b[31m.mkv"}), R"($'a\x0ab\x1b[31m.mkv')");
  EXPECT_EQ(shell_line({"\t'\\"}), R"($'\x09\'\\')");
  EXPECT_EQ(shell_line({"\xff"}), "'\xff'");
}

}  // namespace
}  // namespace limpid::app
