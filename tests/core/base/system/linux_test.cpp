// SPDX-License-Identifier: MIT
// Files that only Linux has.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

std::string refusal_on_linux(const std::string& path, std::size_t most = 100) {
  try {
    read_regular_file(path, most);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(LinuxFiles, OfProcAreRead) {
  EXPECT_NE(read_regular_file("/proc/self/status", 1 << 20), "") << "its size is said to be 0";
  EXPECT_EQ(refusal_on_linux("/proc/self/status", 10), "/proc/self/status: is larger than 0 KiB");
}

TEST(LinuxFiles, PipesAndDevicesAreRefusedWithoutWaiting) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  EXPECT_EQ(refusal_on_linux(path), path + ": is not a regular file");
  EXPECT_EQ(refusal_on_linux("/dev/zero"), "/dev/zero: is not a regular file");
}

}  // namespace
}  // namespace limpid
