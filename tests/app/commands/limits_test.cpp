// SPDX-License-Identifier: MIT
// Without further threads, the program ends with one sentence. tests/limits.sh tests the limits of the
// system, including memory.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;
using LimitsTest = ProgramTest;

/// Runs limpid where at most `threads` threads can be started.
Outcome with_threads(int threads, std::vector<std::string> arguments) {
  std::vector<std::string> command{"env", "LD_PRELOAD=" LIMPID_FEWER_THREADS,
                                   "LIMPID_TEST_THREADS=" + std::to_string(threads)};
  for (std::string& argument : limpid_command(std::move(arguments))) {
    command.push_back(std::move(argument));
  }
  Process process(command);
  return process.wait(30s);
}

/// Runs a command with no thread and with `step` more each time until it succeeds, at the latest with `most`.
void expect_a_sentence_until_there_are_enough_threads(const std::vector<std::string>& arguments, int most,
                                                      int step = 1) {
  int threads = 0;
  for (; threads <= most; threads += step) {
    SCOPED_TRACE(threads);
    const Outcome outcome = with_threads(threads, arguments);
    ASSERT_FALSE(outcome.timed_out) << outcome.err;
    if (outcome.exit_code == 0) {
      break;
    }
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    ASSERT_FALSE(lines(outcome.err).empty());
    EXPECT_EQ(lines(outcome.err).back().rfind("limpid: ", 0), 0U) << outcome.err;
  }
  EXPECT_GT(threads, 0);
  EXPECT_LE(threads, most);
}

TEST_F(LimitsTest, AThreadThatCannotBeStartedEndsARunWithASentence) {
  const std::string input = make_clip("in.mkv", 4);
  expect_failure(with_threads(0, {"denoise", input, "-o", path("out.mkv")}), 1,
                 {"no more threads can be started"});
  expect_a_sentence_until_there_are_enough_threads({"denoise", input, "-o", path("out.mkv"), "-c", "ffv1",
                                                    "--profile", "fast", "-q", "--progress", "json"},
                                                   40);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "out.mkv"}));
}

TEST_F(LimitsTest, AThreadThatCannotBeStartedEndsTheWindow) {
  const std::string input = make_clip("in.mkv", 4);
  setenv("SDL_VIDEODRIVER", "offscreen", 1);
  setenv("SDL_AUDIODRIVER", "dummy", 1);
  expect_a_sentence_until_there_are_enough_threads(
      {"preview", input, "--frames", "2", "--screenshot", path("second.png"), "--sigma", "5"}, 40);
  unsetenv("SDL_VIDEODRIVER");
  unsetenv("SDL_AUDIODRIVER");
}

TEST_F(LimitsTest, AThreadThatCannotBeStartedEndsAJobsCommands) {
  const std::string input = make_clip("in.mkv", 4);
  const std::vector<std::string> plan{"plan", input,      "-o",        path("job"), "-c",
                                      "ffv1", "--filter", "bilateral", "--sigma",   "5"};
  expect_success(limpid(plan));
  const auto expect_a_sentence = [](const std::vector<std::string>& arguments) {
    expect_a_sentence_until_there_are_enough_threads(arguments, 40, 2);  // stages are those of denoise
  };
  expect_a_sentence(
      {"plan", input, "-o", path("other"), "-c", "ffv1", "--filter", "bilateral", "--sigma", "5"});
  expect_a_sentence({"denoise", input, "-o", path("resumed.mkv"), "--resume", "-c", "ffv1", "--filter",
                     "bilateral", "--sigma", "5"});
  expect_a_sentence({"work", path("job")});
  expect_a_sentence({"merge", path("job"), "-o", path("out.mkv")});
}

}  // namespace
}  // namespace limpid::test
