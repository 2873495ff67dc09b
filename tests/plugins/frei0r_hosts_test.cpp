// The frei0r plug-in in ffmpeg.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/temporary_folder.h"

namespace limpid::lib {
namespace {

TEST(Frei0rHosts, FfmpegGivesTheProgramsBits) {
  const test::TemporaryFolder folder;
  FILE* const output = popen(
      ("bash " LIMPID_FREI0R_HOSTS " " LIMPID_BIN_DIR " '" + folder.path().string() + "' 2>&1").c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string said;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
    said += static_cast<char>(c);
  }
  const int status = pclose(output);
  if (said.starts_with("skipped: ")) {
    GTEST_SKIP() << said;
  }
  EXPECT_EQ(status, 0) << said;
}

}  // namespace
}  // namespace limpid::lib
