// SPDX-License-Identifier: MIT
// Paths and libraries that only Windows has.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

std::string refusal_on_windows(const std::string& path) {
  try {
    read_regular_file(path, 100);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(WindowsFiles, MayHaveLongPaths) {
  const test::TemporaryFolder folder;
  std::filesystem::path inner = folder.path();
  for (int i = 0; i < 4; ++i) {
    inner /= path_of("Z\xC3\xBCrich" + std::string(90, 'x'));
  }
  // The system makes such folders only with this prefix.
  const std::filesystem::path prefixed = LR"(\\?\)" + inner.native();
  std::filesystem::create_directories(prefixed);
  std::ofstream(prefixed / "text") << "x";
  EXPECT_GT(inner.native().size(), 260U);
  EXPECT_EQ(read_regular_file(text_of(inner / "text"), 100), "x");
  EXPECT_EQ(read_regular_file(text_of(inner / ".." / inner.filename() / "text"), 100), "x");
  EXPECT_EQ(read_regular_file(text_of(prefixed / "text"), 100), "x");
  EXPECT_EQ(refusal_on_windows(text_of(inner)), text_of(inner) + ": is a folder, not a file");
  std::error_code ignored;
  std::filesystem::remove_all(LR"(\\?\)" + folder.path().native(), ignored);
}

TEST(WindowsFiles, DevicesAreRefused) { EXPECT_EQ(refusal_on_windows("NUL"), "NUL: is not a regular file"); }

TEST(WindowsLibraries, OfTheSystemAreFound) {
  void* const library = load_library(R"(C:\windows\system32\kernel32.dll)");
  EXPECT_NE(find_function(library, "GetTickCount"), nullptr);
  EXPECT_EQ(find_function(library, "GetTockCount"), nullptr);
}

TEST(WindowsLibraries, MissingOneIsNamed) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / path_of("\xE9\x9B\xAA.dll");
  try {
    load_library(file);
    FAIL() << "there is no such file";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot load " + text_of(file) + ": it, or a DLL that it needs, is missing");
  }
}

}  // namespace
}  // namespace limpid
