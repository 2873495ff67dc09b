// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "core/base/machine.h"

namespace limpid {
namespace {

TEST(Processors, AreAtLeastOne) { EXPECT_GE(processors(), 1); }

TEST(Processors, HaveANameWithoutSpacesAround) {
  const std::string name = processor_name();
  ASSERT_NE(name, "");
  EXPECT_NE(name.front(), ' ');
  EXPECT_NE(name.back(), ' ');
}

}  // namespace
}  // namespace limpid
