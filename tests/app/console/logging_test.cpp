#include "app/console/logging.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/console/silent_logging.h"

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
  for (int round = 0; round < 2000; ++round) {
    const WarningRecorder recorder;
    const int until = logged + (round % 4);
    while (logged < until) {
    }
    gathered += static_cast<int>(recorder.warnings().size());
  }
  EXPECT_GT(gathered, 0);
}

}  // namespace
}  // namespace limpid::app
