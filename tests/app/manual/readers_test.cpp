// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/plugins/host_script.h"

namespace limpid::app {
namespace {

TEST(Manual, ToolsAndShellsReadIt) { test::expect_host_to_work(LIMPID_MANUAL_TEST, LIMPID_BIN_DIR); }

}  // namespace
}  // namespace limpid::app
