// Ctrl-C: the first ends the run with a valid file, the second ends the program at once.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/program_test.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;
using InterruptTest = ProgramTest;

TEST_F(InterruptTest, LeavesAValidFileOfWhatWasDone) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=size=320x240:duration=40", "-f", "lavfi", "-i",
                      "sine=duration=40", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"});
  for (const char* name : {"out.mkv", "out.mp4"}) {
    Process process(limpid_command(
        {"denoise", input, "-o", path(name), "--profile", "fast", "--sigma", "10", "--progress", "json"}));
    ASSERT_TRUE(process.wait_for_err("\"finished\":false"));
    process.send_signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    const std::size_t frames = frame_count(path(name));
    EXPECT_GT(frames, 0U);
    EXPECT_LT(frames, 1000U);
    EXPECT_NE(outcome.err.find(std::to_string(frames) + " frames in "), std::string::npos) << outcome.err;
    EXPECT_GT(packet_count(path(name), "a"), 0U);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "out.mkv", "out.mp4"}));
}

TEST_F(InterruptTest, DoesNotWaitForASourceThatHasNothingToGive) {
  const std::string clip = read_file(make_clip("in.y4m", 20));
  ProcessOptions options;
  options.input_pipe = true;
  Process process(limpid_command({"denoise", "-", "-o", path("out.mkv"), "-c", "ffv1", "--profile", "fast",
                                  "--sigma", "5", "--progress", "json"}),
                  options);
  process.write_input(clip);
  ASSERT_TRUE(process.wait_for_err("\"finished\":false"));
  process.send_signal(SIGINT);  // with the pipe still open
  const Outcome outcome = process.wait(20s);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_GT(frame_count(path("out.mkv")), 0U);
}

TEST_F(InterruptTest, TheSecondEndsAtOnceAndLeavesNothing) {
  const std::string input = make_clip("in.mkv", 40, "960x540");
  Process process(
      limpid_command({"denoise", input, "-o", path("out.mkv"), "--profile", "high", "--sigma", "20"}));
  ASSERT_TRUE(process.wait_for_err("engine: "));
  process.send_signal(SIGINT);
  ASSERT_TRUE(process.wait_for_err("interrupted"));
  process.send_signal(SIGINT);
  const Outcome outcome = process.wait(2s);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv"}));
}

}  // namespace
}  // namespace limpid::test
