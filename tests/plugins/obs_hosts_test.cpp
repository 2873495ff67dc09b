// SPDX-License-Identifier: MIT
// The filter in libobs.
#include <gtest/gtest.h>

#include "tests/plugins/host_script.h"

namespace limpid::lib {
namespace {

TEST(ObsHosts, GiveTheProgramsBits) { test::expect_host_to_work(LIMPID_OBS_HOSTS, LIMPID_BIN_DIR); }

}  // namespace
}  // namespace limpid::lib
