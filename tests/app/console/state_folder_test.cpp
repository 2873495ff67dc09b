// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "app/console/durable_file.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

TEST(StateFolder, AnEmptyHomeIsNone) {
  const char* const home = std::getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  ::setenv("HOME", "", 1);
  ::unsetenv("XDG_STATE_HOME");
  EXPECT_THROW(StateFolder("settings", 1), Error);
  ::setenv("HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace limpid::app
