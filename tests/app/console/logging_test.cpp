#include "app/console/logging.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/console/console.h"

namespace limpid::app {
namespace {

class LoggingTest : public testing::Test {
 protected:
  LoggingTest() { set_up_logging(console_, {.level = "off", .file = ""}); }
  ~LoggingTest() override { spdlog::set_default_logger(before_); }
  LoggingTest(const LoggingTest&) = delete;
  LoggingTest& operator=(const LoggingTest&) = delete;
  LoggingTest(LoggingTest&&) = delete;
  LoggingTest& operator=(LoggingTest&&) = delete;

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  Console console_;
};

TEST_F(LoggingTest, WarningsAreGatheredByEachRecorderThatLives) {
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

TEST_F(LoggingTest, ARecorderMayComeAndGoWhileAnotherThreadLogs) {
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
