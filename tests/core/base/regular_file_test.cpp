// SPDX-License-Identifier: MIT
#include "core/base/regular_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/system.h"
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
  const std::string path = text_of(folder.path() / "text");
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_EQ(read_regular_file(path, 100), std::string(100, 'x'));
  EXPECT_EQ(refusal_of(path, 99), path + ": is larger than 0 KiB");
  std::ofstream(path).flush();
  EXPECT_EQ(read_regular_file(path, 100), "");
}

TEST(RegularFile, IsReadByteByByteAsItIs) {
  const test::TemporaryFolder folder;
  const std::string text("line\r\n\x1A\0end", 11);
  std::ofstream(folder.path() / "text", std::ios::binary) << text;
  EXPECT_EQ(read_regular_file(text_of(folder.path() / "text"), 100), text);
}

TEST(RegularFile, MayHaveANameOfAnyScript) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / path_of("Z\xC3\xBCrich \xE9\x9B\xAA.json");
  std::ofstream(file) << "x";
  EXPECT_EQ(read_regular_file(text_of(file), 100), "x");
  const std::string absent = text_of(folder.path() / path_of("\xE9\x9B\xAA"));
  EXPECT_EQ(refusal_of(absent), absent + ": No such file or directory");
}

TEST(RegularFile, MayBeReadOnlyInAFolderThatIs) {
  using std::filesystem::perms;
  const test::TemporaryFolder folder;
  const std::filesystem::path inner = folder.path() / "inner";
  std::filesystem::create_directory(inner);
  std::ofstream(inner / "text") << "x";
  std::filesystem::permissions(inner / "text", perms::owner_read);
  std::filesystem::permissions(inner, perms::owner_read | perms::owner_exec);
  EXPECT_EQ(read_regular_file(text_of(inner / "text"), 100), "x");
  std::filesystem::permissions(inner, perms::owner_all);
  std::filesystem::permissions(inner / "text", perms::owner_all);
}

TEST(RegularFile, FoldersAndMissingFilesAreRefused) {
  const test::TemporaryFolder folder;
  const std::string path = text_of(folder.path());
  EXPECT_EQ(refusal_of(path), path + ": is a folder, not a file");
  const std::string absent = text_of(folder.path() / "absent");
  EXPECT_EQ(refusal_of(absent), absent + ": No such file or directory");
}

TEST(RegularFile, ASparseOneIsNotReadIntoMemory) {
  const test::TemporaryFolder folder;
  const std::string path = text_of(folder.path() / "sparse");
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
