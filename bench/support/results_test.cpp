// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

TEST(Results, PageIsWhatTheFilesSay) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no python3";
  }
  EXPECT_EQ(std::system("python3 '" LIMPID_RESULTS "' --check"), 0);
}

}  // namespace
