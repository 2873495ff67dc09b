// SPDX-License-Identifier: MIT
// Programs built against the library, from an installation that was moved and from an earlier version.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/temporary_folder.h"

namespace limpid::lib {
namespace {

// The command's output if it failed; "" otherwise.
std::string complaint(const std::string& command) {
  FILE* const output = popen((command + " 2>&1").c_str(), "r");
  if (output == nullptr) {
    return "can't start " + command;
  }
  std::string said;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), output) != nullptr) {
    said += part.data();
  }
  return pclose(output) == 0 ? "" : "failed: " + said;
}

bool is_there(const std::string& program) { return complaint("command -v " + program).empty(); }

TEST(InstalledLibrary, BuildsTheExamplesWhichGiveTheProgramsBits) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(complaint("bash '" LIMPID_SOURCE_DIR "/tests/lib/installed.sh' '" LIMPID_BUILD_DIR
                      "' '" LIMPID_SOURCE_DIR "' '" +
                      folder.path().string() + "'"),
            "");
}

// A library in the current directory must not be loaded. installed.sh checks the installed files.
TEST(BuiltFiles, HaveLibraryPathsThatDoNotDependOnTheCurrentDirectory) {
  EXPECT_EQ(complaint("bash '" LIMPID_SOURCE_DIR "/tests/lib/runpaths.sh' '" LIMPID_BUILD_DIR "'"), "");
}

TEST(InstalledLibrary, KeepsItsAbi) {
  if (!is_there("abidw") || !is_there("abidiff")) {
    GTEST_SKIP() << "abigail-tools are not installed";
  }
  EXPECT_EQ(
      complaint("bash '" LIMPID_SOURCE_DIR "/tests/lib/abi.sh' '" LIMPID_LIBRARY "' '" LIMPID_SOURCE_DIR "'"),
      "");
}

}  // namespace
}  // namespace limpid::lib
