// SPDX-License-Identifier: MIT
#include "core/base/thread.h"

#include <gtest/gtest.h>

namespace limpid {
namespace {

// With std::latch of libstdc++ 12, one in some thousand calls hung on Windows.
TEST(RequireThreads, ReturnsEachTime) {
  for (int i = 0; i < 300; ++i) {
    require_threads(i % 4);
  }
}

}  // namespace
}  // namespace limpid
