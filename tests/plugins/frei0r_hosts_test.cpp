// SPDX-License-Identifier: MIT
// The frei0r plug-in in ffmpeg.
#include <gtest/gtest.h>

#include "tests/plugins/host_script.h"

namespace limpid::lib {
namespace {

TEST(Frei0rHosts, FfmpegGivesTheProgramsBits) {
  test::expect_host_to_work(LIMPID_FREI0R_HOSTS, LIMPID_BIN_DIR);
}

}  // namespace
}  // namespace limpid::lib
