// SPDX-License-Identifier: MIT
// A sample of tests/failing_calls.sh, with a seed, and failures that last.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using FailingCallsTest = ProgramTest;

TEST_F(FailingCallsTest, LeaveAWholeOutputOrNone) {
  const Outcome outcome = run({LIMPID_FAILING_CALLS_TEST, LIMPID_BUILD_DIR, "12", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// A failed initialization of oneTBB's arena made the next segment or file wait for ever.
TEST_F(FailingCallsTest, CommandsEndWhereMemoryStaysShort) {
  const std::string input = make_clip("in.mkv", 12);
  std::filesystem::create_directory(path("folder"));
  for (const char* const name : {"folder/a.mkv", "folder/b.mkv"}) {
    std::filesystem::copy(input, path(name));
  }
  const std::vector<std::string> settings{"-c", "ffv1", "--filter", "bilateral", "--sigma", "5"};
  std::vector<std::vector<std::string>> commands{
      {"plan", input, "-o", path("job"), "--segment-frames", "4"},
      {"work", path("job")},
      {"denoise", path("folder"), "-o", path("out")},
      {"denoise", input, "-o", path("out.mkv"), "--resume", "--segment-frames", "4"}};
  for (std::vector<std::string>& command : commands) {
    if (command.front() != "work") {
      command.insert(command.end(), settings.begin(), settings.end());
    }
    if (command.front() == "plan") {
      expect_success(limpid(command));
      continue;
    }
    for (const char* const from : {"2", "3", "4"}) {
      SCOPED_TRACE(command.front() + " " + command[1] + ", mmap " + from);
      std::vector<std::string> words{"env", "LD_PRELOAD=" LIMPID_FAILING_CALLS,
                                     "LIMPID_TEST_FAIL=mmap:" + std::string(from) + "+"};
      for (std::string& word : limpid_command(command)) {
        words.push_back(std::move(word));
      }
      Process process(words);
      const Outcome outcome = process.wait(std::chrono::seconds(10));
      EXPECT_FALSE(outcome.timed_out);
      EXPECT_LE(outcome.exit_code, 1) << outcome.err;
    }
  }
}

}  // namespace
}  // namespace limpid::test
