// SPDX-License-Identifier: MIT

#include "core/base/system.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/thread.h"

namespace limpid {
namespace {

TEST(Processors, AreAtLeastOne) { EXPECT_GE(processors(), 1); }

TEST(Processors, HaveANameWithoutSpacesAround) {
  const std::string name = processor_name();
  ASSERT_NE(name, "");
  EXPECT_NE(name.front(), ' ');
  EXPECT_NE(name.back(), ' ');
}

// With std::latch of libstdc++ 12, one in some thousand calls hung on Windows.
TEST(RequireThreads, ReturnsEachTime) {
  for (int i = 0; i < 300; ++i) {
    require_threads(i % 4);
  }
}

}  // namespace

}  // namespace limpid
