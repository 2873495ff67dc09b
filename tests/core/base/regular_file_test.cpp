// SPDX-License-Identifier: MIT
#include "core/base/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/narrowed.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

std::string refusal_of(const std::string& path, std::size_t most = 100) {
  try {
    read_regular_file(path, most);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(RegularFile, IsReadWholeUpToALimit) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "text";
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_EQ(read_regular_file(path, 100), std::string(100, 'x'));
  EXPECT_EQ(refusal_of(path, 99), path + ": is larger than 0 KiB");
  std::ofstream(path).flush();
  EXPECT_EQ(read_regular_file(path, 100), "");
  EXPECT_NE(read_regular_file("/proc/self/status", 1 << 20), "") << "its size is said to be 0";
  EXPECT_EQ(refusal_of("/proc/self/status", 10), "/proc/self/status: is larger than 0 KiB");
}

TEST(RegularFile, OtherFilesAreRefusedWithoutWaiting) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  EXPECT_EQ(refusal_of(path), path + ": is not a regular file");
  EXPECT_EQ(refusal_of("/dev/zero"), "/dev/zero: is not a regular file");
  EXPECT_EQ(refusal_of(folder.path()), folder.path().string() + ": is a folder, not a file");
  EXPECT_EQ(refusal_of(folder.path() / "absent"),
            (folder.path() / "absent").string() + ": No such file or directory");
}

TEST(RegularFile, ASparseOneIsNotReadIntoMemory) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "sparse";
  std::ofstream(path).flush();
  std::error_code failure;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40, failure);
  if (failure) {
    GTEST_SKIP() << "the file system has no such files: " << failure.message();
  }
  EXPECT_EQ(refusal_of(path, 1 << 20), path + ": is larger than 1024 KiB");
}

TEST(Narrowed, NumbersThatDoNotFitAreNone) {
  EXPECT_EQ(narrowed<int>(std::int64_t{5}), 5);
  EXPECT_EQ(narrowed<int>((std::int64_t{1} << 32) + 16), std::nullopt);
  EXPECT_EQ(narrowed<int>(std::uint64_t{0xFFFFFFFF}), std::nullopt);
  EXPECT_EQ(narrowed<std::uint32_t>(std::int64_t{-1}), std::nullopt);
  EXPECT_EQ(narrowed<std::uint32_t>(std::uint64_t{0xFFFFFFFF}), 0xFFFFFFFFU);
}

}  // namespace
}  // namespace limpid
