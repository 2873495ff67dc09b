// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/temporary_folder.h"

namespace limpid::test {

/// Runs a script that tests a plug-in in a host, with the folder of the programs and a temporary one as
/// arguments. The test is skipped if the script prints "skipped: " and a reason; a failure's output is shown.
inline void expect_host_to_work(const std::string& script, const std::string& programs) {
  const TemporaryFolder folder;
  FILE* const output =
      popen(("bash " + script + " " + programs + " '" + folder.path().string() + "' 2>&1").c_str(), "r");
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

}  // namespace limpid::test
