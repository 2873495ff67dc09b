// SPDX-License-Identifier: MIT
#include "app/console/logging.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/console/silent_logging.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

TEST(LoggingTest, WarningsAreGatheredByEachRecorderThatLives) {
  const SilentLogging logging;
  spdlog::warn("before");
  const WarningRecorder outer;
  spdlog::warn("one");
  {
    const WarningRecorder inner;
    spdlog::warn("two");
    spdlog::error("no warning");
    EXPECT_EQ(inner.warnings(), (std::vector<std::string>{"two"}));
  }
  spdlog::warn("three");
  EXPECT_EQ(outer.warnings(), (std::vector<std::string>{"one", "two", "three"}));
}

TEST(LoggingTest, ARecorderMayComeAndGoWhileAnotherThreadLogs) {
  const SilentLogging logging;
  std::atomic<int> logged = 0;
  const std::jthread other([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      spdlog::warn("from another thread");
      ++logged;
    }
  });
  int gathered = 0;
  for (int round = 0; round < 200; ++round) {
    const WarningRecorder recorder;
    const int until = logged + (round % 4);
    while (logged < until) {
      std::this_thread::yield();
    }
    gathered += static_cast<int>(recorder.warnings().size());
  }
  EXPECT_GT(gathered, 0);
}

TEST(LoggingTest, TheLogFileHasNoControlCharactersOfNames) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "log.txt").string();
  const std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
  Console console;
  set_up_logging(console, {.level = "off", .file = file});
  spdlog::warn(std::string("q\033[31m\n[error] forged\xE2\x80") + "\xAE.mkv: a warning, 100 %v %*");
  spdlog::default_logger()->flush();
  spdlog::set_default_logger(before);
  std::ifstream stream(file);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(
      text.ends_with("] [warning] q\\x1b[31m\\x0a[error] forged\\xe2\\x80\\xae.mkv: a warning, 100 %v %*\n"))
      << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

}  // namespace
}  // namespace limpid::app
