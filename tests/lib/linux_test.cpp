// SPDX-License-Identifier: MIT
// Properties of the C library that are measured by functions of Linux.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limpid.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/lib/handles.h"
#include "tests/lib/quick.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::lib {
namespace {

TEST(Library, TellsThatMemoryDoesNotSuffice) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers need address space of their own";
#endif
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, oracle::gray(30000, 30000)), LIMPID_OK);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit scarce{rlim_t{1} << 28, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &scarce), 0);
  auto frame = sized<limpid_frame>();
  const limpid_status status = limpid_allocate(denoiser, &frame);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(status, LIMPID_NO_MEMORY);
  EXPECT_STREQ(limpid_error(denoiser), "out of memory: a frame of 30000x30000 gray 8 bit needs 858 MiB");
}

TEST(Library, MemoryDoesNotGrowWithTheStream) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers' allocator does not report memory in use";
#endif
  const FrameFormat format = oracle::gray(64, 64);
  const std::vector<Frame> frames = noisy_frames(format, 2);
  const Handle denoiser;
  limpid_set(denoiser, "profile", "fast");
  limpid_set(denoiser, "steps", "1");
  limpid_set(denoiser, "reach", "1");
  limpid_set(denoiser, "sigma", "auto");
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  std::int64_t received = 0;
  const auto run = [&](int count, std::uint32_t flags) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(send(denoiser, frames[static_cast<std::size_t>(i % 2)], flags), LIMPID_OK);
      while (receive(denoiser, format).samples != nullptr) {
        ++received;
      }
    }
  };
  const auto in_use = [] {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  // Memory for frames in progress, and for other kept frames.
  for (int round = 0; round < 3; ++round) {
    run(20, 0);
    run(20, LIMPID_CONTEXT_ONLY);
  }
  const auto before = in_use();
  constexpr int kMore = 60;
  run(kMore, 0);
  run(kMore, LIMPID_CONTEXT_ONLY);
  // A frame has 4 KiB.
  EXPECT_LT(in_use(), before + (std::size_t{128} << 10));
  limpid_flush(denoiser);
  while (receive(denoiser, format).samples != nullptr) {
    ++received;
  }
  EXPECT_EQ(received, 60 + kMore);
}

// A second copy, as in a host whose plug-ins each contain the library.
TEST(Library, StaysWhereAHostUnloadsIt) {
  const test::TemporaryFolder folder;
  const std::string copy = (folder.path() / "liblimpid_copy.so").string();
  std::filesystem::copy_file(LIMPID_LIBRARY, copy);
  void* const library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto function = [library]<typename Function>(Function* /*type*/, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
  };
  const FrameFormat format = oracle::gray(32, 32);
  const limpid_format c = c_format(format);
  const Frame frame = noisy_frames(format, 1).front();
  const limpid_frame sent = c_frame(frame);
  auto result = sized<limpid_frame>();
  limpid_denoiser* denoiser = nullptr;
  ASSERT_NE(function(&limpid_new, "limpid_new"), &limpid_new);
  ASSERT_EQ(function(&limpid_new, "limpid_new")(&denoiser, nullptr), LIMPID_OK);
  EXPECT_EQ(function(&limpid_set, "limpid_set")(denoiser, "sigma", "10"), LIMPID_OK);
  EXPECT_EQ(function(&limpid_set, "limpid_set")(denoiser, "filter", "bm3d"), LIMPID_OK);
  EXPECT_EQ(function(&limpid_start, "limpid_start")(denoiser, &c), LIMPID_OK);
  EXPECT_EQ(function(&limpid_send, "limpid_send")(denoiser, &sent), LIMPID_OK);
  EXPECT_EQ(function(&limpid_receive, "limpid_receive")(denoiser, &result), LIMPID_OK);
  function(&limpid_release, "limpid_release")(&result);
  function(&limpid_free, "limpid_free")(&denoiser);
  EXPECT_EQ(dlclose(library), 0);
  EXPECT_NE(dlopen(copy.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "there are threads in it, or in oneTBB";
}

TEST(Library, ExportsWhatTheHeaderDeclaresAndNothingElse) {
  std::ifstream header(LIMPID_HEADER);
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  static const std::regex kFunction(R"(LIMPID_API [^;(]*?(limpid_\w+)\()");
  std::set<std::string> declared;
  for (std::sregex_iterator match(text.begin(), text.end(), kFunction), end; match != end; ++match) {
    declared.insert((*match)[1]);
  }
  EXPECT_GT(declared.size(), 20U);
  const std::unique_ptr<FILE, int (*)(FILE*)> symbols(
      popen("nm --dynamic --defined-only --format=posix '" LIMPID_LIBRARY "'", "r"), pclose);
  ASSERT_NE(symbols, nullptr);
  std::set<std::string> exported;
  char line[512];
  while (std::fgets(line, sizeof line, symbols.get()) != nullptr) {
    std::string name;
    std::string kind;
    std::istringstream(line) >> name >> kind;
    // Except the versions themselves and the program's entry.
    if (kind != "A" && !name.ends_with("@LIMPID_PRIVATE")) {
      exported.insert(name.substr(0, name.find('@')));
    }
  }
  EXPECT_EQ(exported, declared);
}

}  // namespace
}  // namespace limpid::lib
