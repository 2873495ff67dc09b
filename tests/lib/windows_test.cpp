// SPDX-License-Identifier: MIT
// The C library on Windows: unloading, and names of files.
#include <gtest/gtest.h>
#include <limpid.h>
#include <windows.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/system.h"
#include "tests/lib/handles.h"
#include "tests/lib/quick.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::lib {
namespace {

// A second copy, as in a host whose plug-ins each contain the library.
TEST(LibraryOnWindows, StaysWhereAHostUnloadsIt) {
  const test::TemporaryFolder folder;
  const std::filesystem::path copy = folder.path() / "copy.dll";
  std::filesystem::copy_file(LIMPID_LIBRARY, copy);
  void* const library = load_library(copy);
  const auto version = reinterpret_cast<decltype(&limpid_version)>(find_function(library, "limpid_version"));
  ASSERT_NE(version, nullptr);
  EXPECT_NE(FreeLibrary(static_cast<HMODULE>(library)), 0);
  EXPECT_EQ(GetModuleHandleW(copy.c_str()), library);
  EXPECT_STREQ(version(), LIMPID_VERSION);
}

TEST(LibraryOnWindows, FilesOfSettingsMayHaveNamesOfAnyScript) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / path_of("Z\xC3\xBCrich \xE9\x9B\xAA.json");
  const Handle denoiser;
  EXPECT_EQ(limpid_set(denoiser, "noise", text_of(file).c_str()), LIMPID_BAD_ARGUMENT);
  const std::string refusal = limpid_error(denoiser);
  EXPECT_TRUE(
      refusal.ends_with("cannot read the noise profile " + text_of(file) + ": No such file or directory"))
      << refusal;
  const Handle measured;
  const FrameFormat format = oracle::gray(64, 64);
  ASSERT_EQ(start(measured, format), LIMPID_OK);
  for (const Frame& frame : noisy_frames(format, 3)) {
    ASSERT_EQ(send(measured, frame), LIMPID_OK);
  }
  ASSERT_EQ(limpid_flush(measured), LIMPID_OK);
  auto noise = sized<limpid_noise>();
  ASSERT_EQ(limpid_get_noise(measured, &noise), LIMPID_OK) << limpid_error(measured);
  std::ofstream(file) << noise.profile;
  EXPECT_EQ(limpid_set(denoiser, "noise", text_of(file).c_str()), LIMPID_OK) << limpid_error(denoiser);
}

}  // namespace
}  // namespace limpid::lib
