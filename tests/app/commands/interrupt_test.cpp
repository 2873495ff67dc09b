// SPDX-License-Identifier: MIT
// Ctrl-C: the first ends the run with a valid file, the second ends the program at once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;
using InterruptTest = ProgramTest;

TEST_F(InterruptTest, LeavesAValidFileOfWhatWasDone) {
  const std::string input =
      make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=size=160x128:duration=40", "-f", "lavfi", "-i",
                      "sine=duration=40", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"});
  write_file(path("out.mp4"), "an older output, complete");
  for (const char* extension : {".mkv", ".mp4"}) {
    const std::string name = std::string("out.partial") + extension;
    Process process(
        limpid_command({"denoise", input, "-y", "-o", path(std::string("out") + extension), "--profile",
                        "fast", "--sigma", "10", "--progress", "json", "--engine", "cpu", "--threads", "1"}));
    ASSERT_TRUE(process.wait_for_frames());
    process.send_signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    const std::size_t frames = frame_count(path(name));
    EXPECT_GT(frames, 0U);
    EXPECT_LT(frames, 1000U);
    EXPECT_NE(outcome.err.find(std::to_string(frames) + " frames in "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(path(name) + " contains the output of "), std::string::npos) << outcome.err;
    EXPECT_GT(packet_count(path(name), "a"), 0U);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "out.mp4", "out.partial.mkv", "out.partial.mp4"}));
  EXPECT_EQ(read_file(path("out.mp4")), "an older output, complete");
}

TEST_F(InterruptTest, DoesNotWaitForASourceThatHasNothingToGive) {
  const std::string clip = read_file(make_clip("in.y4m", 20));
  ProcessOptions options;
  options.input_pipe = true;
  Process process(limpid_command({"denoise", "-", "-o", path("out.mkv"), "-c", "ffv1", "--profile", "fast",
                                  "--sigma", "5", "--progress", "json"}),
                  options);
  process.write_input(clip);
  ASSERT_TRUE(process.wait_for_frames());
  process.send_signal(SIGINT);  // while the pipe is open
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_GT(frame_count(path("out.partial.mkv")), 0U);
}

TEST_F(InterruptTest, SignalsThatAreIgnoredFromTheStartStayIgnored) {
  const std::string input = make_clip("in.mkv", 8, "320x240");
  const std::string job = path("job");
  expect_success(limpid({"plan", input, "-o", job, "-c", "ffv1", "--filter", "bm3d", "--sigma", "10"}));
  const std::vector<std::vector<std::string>> commands{
      {"denoise", input, "-o", path("out.mkv"), "-c", "ffv1", "--profile", "fast", "--sigma", "10"},
      {"work", job}};
  for (const std::vector<std::string>& command : commands) {
    for (const bool ignores_all : {true, false}) {
      std::vector<std::string> words{
          "bash", "-c",
          std::string("trap '' HUP") + (ignores_all ? " INT TERM" : "") + R"(; exec "$0" "$@" --threads 1)",
          LIMPID_PROGRAM};
      words.insert(words.end(), command.begin(), command.end());
      words.emplace_back("-y");
      words.resize(words.size() - (command.front() == "work" ? 1 : 0));
      Process process(words);
      ASSERT_TRUE(process.wait_for_err(command.front() == "work" ? "" : "engine: "));
      std::this_thread::sleep_for(100ms);
      process.send_signal(SIGHUP);
      if (ignores_all) {
        process.send_signal(SIGINT);
        process.send_signal(SIGTERM);
      }
      const Outcome outcome = process.wait();
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
    }
  }
  EXPECT_EQ(frame_count(path("out.mkv")), 8U);
}

TEST_F(InterruptTest, OtherSignalsEndARunThatIgnoresSome) {
  const std::string input = make_clip("in.mkv", 200, "320x240");
  for (const char* ignored : {"HUP", "INT HUP"}) {
    Process process({"bash", "-c", std::string("trap '' ") + ignored + R"(; exec "$0" "$@")", LIMPID_PROGRAM,
                     "denoise", input, "-o", path("out.mkv"), "-y", "--profile", "high", "--sigma", "10"});
    ASSERT_TRUE(process.wait_for_err("engine: "));
    process.send_signal(SIGTERM);
    EXPECT_EQ(process.wait(20s).exit_code, 130);
  }
}

TEST_F(InterruptTest, DropsFramesThatTakeTooLong) {
  const std::string input = make_clip("in.mkv", 8, "1280x720");
  Process process(limpid_command({"denoise", input, "-o", path("out.mkv"), "--filter", "vnlb", "--sigma",
                                  "20", "--threads", "1", "-c", "ffv1"}));
  ASSERT_TRUE(process.wait_for_err("engine: "));
  std::this_thread::sleep_for(500ms);  // until it filters; it would need half a minute
  const auto begin = std::chrono::steady_clock::now();
  process.send_signal(SIGTERM);
  const Outcome outcome = process.wait(60s);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 12s);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv"}));
}

TEST_F(InterruptTest, DoesNotWaitForANamedPipe) {
  const std::string clip = read_file(make_clip("in.y4m", 20));
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::string> arguments{"denoise", pipe,      "-o", path("out.mkv"), "-c",
                                           "ffv1",    "--sigma", "5",  "--progress",    "json"};
  {
    Process nobody_writes(limpid_command(arguments));
    ASSERT_TRUE(nobody_writes.wait_for_err("engine: "));
    nobody_writes.send_signal(SIGINT);
    EXPECT_EQ(nobody_writes.wait(20s).exit_code, 130);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"in.y4m", "pipe"}));
  {
    Process process(limpid_command(arguments));
    std::ofstream writer(pipe);
    writer << clip << std::flush;
    ASSERT_TRUE(process.wait_for_frames());
    process.send_signal(SIGINT);  // while the pipe is open
    EXPECT_EQ(process.wait().exit_code, 130);
    EXPECT_GT(frame_count(path("out.partial.mkv")), 0U);
  }
  Process process(limpid_command(arguments));
  std::ofstream(pipe) << clip;
  EXPECT_EQ(process.wait().exit_code, 0);
  EXPECT_EQ(frame_count(path("out.mkv")), 20U);
}

TEST_F(InterruptTest, EndsCommandsThatMeasure) {
  const std::string input = make_clip("in.mkv", 2);
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"compare", pipe}, {"noise", pipe}, {"measure", input, pipe}, {"benchmark", pipe}}) {
    SCOPED_TRACE(arguments.front());
    Process process(limpid_command(arguments));
    int writer = -1;  // can be opened as soon as the program reads
    for (int i = 0; i < 1000 && writer < 0; ++i) {
      writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_GE(writer, 0);
    process.send_signal(SIGTERM);
    EXPECT_EQ(process.wait(20s).exit_code, 130);
    ::close(writer);
  }
}

TEST_F(InterruptTest, LeavesNoPicturesOfAClip) {
  const std::string input = make_clip("in.mkv", 600, "128x96");
  const std::string temporary = path("temporary");
  std::filesystem::create_directory(temporary);
  std::vector<std::string> words{"env", "TMPDIR=" + temporary};
  for (std::string& word : limpid_command({"compare", input, "--filters", "bilateral", "--sigma", "5",
                                           "--frames", "600", "--clip", path("clip.mkv")})) {
    words.push_back(std::move(word));
  }
  Process process(words);
  while (!process.has_ended() && std::filesystem::is_empty(temporary)) {
    std::this_thread::sleep_for(1ms);
  }
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait(20s).exit_code, 130);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "temporary"}));
}

TEST_F(InterruptTest, DoesNotWaitForAProgramThatReadsItsPipe) {
  const std::string input = make_clip("in.mkv", 40, "320x240");
  const std::string pipe = path("pipe.mkv");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::string> arguments{"denoise", input,       "-o",   pipe,      "-c",
                                           "ffv1",    "--profile", "fast", "--sigma", "5"};
  for (const int signal : {SIGINT, SIGTERM}) {
    Process nobody_reads(limpid_command(arguments));
    ASSERT_TRUE(nobody_reads.wait_for_err("engine: "));
    std::this_thread::sleep_for(100ms);  // until it waits; an earlier signal ends it as well
    nobody_reads.send_signal(signal);
    const Outcome outcome = nobody_reads.wait(20s);
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    EXPECT_FALSE(outcome.timed_out);
  }
  {
    Process process(limpid_command(arguments));
    std::ifstream reader(pipe);  // reads nothing
    ASSERT_TRUE(process.wait_for_err("engine: "));
    std::this_thread::sleep_for(1s);  // until the pipe is full
    process.send_signal(SIGTERM);
    const Outcome outcome = process.wait(40s);
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  }
  {
    const std::string script =
        R"(exec 3> >(sleep 20); "$0" denoise "$1" -o - --profile fast --sigma 5 >&3 & sleep 1; kill $!; wait $!)";
    Process process({"bash", "-c", script, LIMPID_PROGRAM, input});
    EXPECT_FALSE(process.wait(40s).timed_out) << "a full standard output";
  }
  Process process(limpid_command(arguments));
  EXPECT_EQ(frame_count(pipe), 40U);
  EXPECT_EQ(process.wait().exit_code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv", "pipe.mkv"}));
}

TEST_F(InterruptTest, DoesNotHideThatTheFramesUnderWayCantBeWritten) {
  const std::string clip = read_file(make_clip("in.y4m", 60, "320x240"));
  ProcessOptions options;
  options.input_pipe = true;
  const std::string script =
      R"(ulimit -f 64; exec "$0" denoise - -o "$1" -c libx264 --crf 1 -e rc-lookahead=250 --sigma 0 --progress json)";
  Process process({"bash", "-c", script, LIMPID_PROGRAM, path("out.mkv")}, options);
  process.write_input(clip);
  ASSERT_TRUE(process.wait_for_frames("", 40));
  process.send_signal(SIGINT);  // while frames are in the encoder, whose lookahead is 250
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("out.mkv: "), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), (std::vector<std::string>{"in.y4m"}));
}

TEST_F(InterruptTest, TheSecondEndsAtOnceAndLeavesNothing) {
  const std::string input = make_clip("in.mkv", 40, "960x540");
  for (const char* output : {"out.mkv", "out_%03d.png"}) {
    Process process(limpid_command(
        {"denoise", input, "-o", path(output), "--profile", "high", "--sigma", "20", "--threads", "1"}));
    ASSERT_TRUE(process.wait_for_err("engine: "));
    process.send_signal(SIGINT);
    ASSERT_TRUE(process.wait_for_err("interrupted"));
    process.send_signal(SIGINT);
    const Outcome outcome = process.wait();  // if it finished its frames, there would be a file
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv"}));
  }
}

TEST_F(InterruptTest, TheSecondEndsAProgramWhoseMessagesNobodyTakes) {
  const std::string input = make_clip("in.mkv");
  // A pipe holds 64 KiB.
  const std::string script = R"(exec 3> >(sleep 40); head -c 65536 /dev/zero >&3
"$0" denoise "$1" -o "$2" 2>&3 & for _ in 1 2; do sleep 3; kill $!; done; wait $!)";
  Process process({"bash", "-c", script, LIMPID_PROGRAM, input, path("out.mkv")});
  const Outcome outcome = process.wait(30s);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(files(), (std::vector<std::string>{"in.mkv"}));
}

TEST_F(InterruptTest, InterruptLeavesAWholeFileOrNone) {
  const std::string input = make_clip("in.mkv", 20, "128x96");
  const auto run = [&](const std::string& output) {
    return Process(limpid_command({"denoise", input, "-o", output, "--profile", "fast", "--sigma", "10"}));
  };
  const auto begin = std::chrono::steady_clock::now();
  expect_success(run(path("whole.mkv")).wait());
  const auto whole = std::chrono::steady_clock::now() - begin;
  constexpr int kMoments = 12;
  for (int moment = 0; moment < kMoments; ++moment) {
    SCOPED_TRACE(moment);
    const std::string output = path("out" + std::to_string(moment) + ".mkv");
    Process process = run(output);
    // Does not wait for an event: the moments themselves are tested.
    std::this_thread::sleep_for(whole * moment / kMoments);
    process.send_signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, std::filesystem::exists(output) ? 0 : 130) << outcome.err;
    if (std::filesystem::exists(output)) {
      EXPECT_EQ(frame_count(output), 20U);
    }
    const std::string part = path("out" + std::to_string(moment) + ".partial.mkv");
    if (std::filesystem::exists(part)) {
      EXPECT_GT(frame_count(part), 0U);
    }
  }
  for (const std::string& file : files()) {
    EXPECT_FALSE(file.starts_with(".limpid-")) << file;
  }
}

TEST_F(InterruptTest, AKilledRunLeavesAFileThatPlays) {
  const std::string input = make("in.mkv", {"-f", "lavfi", "-i", "testsrc2=size=128x96:duration=200", "-c:v",
                                            "libx264", "-preset", "ultrafast"});
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"out.mkv", {}}, {"out.mp4", {"-e", "movflags=+frag_keyframe+empty_moov", "-e", "g=25"}}};
  for (const auto& [name, options] : cases) {
    std::vector<std::string> arguments = {"denoise", input,     "-o", path(name), "--profile",
                                          "fast",    "--sigma", "10", "-c",       "mpeg4"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process process(limpid_command(arguments));
    std::string left;
    constexpr std::uintmax_t kSeconds = 100'000;  // of video
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while ((left.empty() || std::filesystem::file_size(path(left)) < kSeconds) &&
           std::chrono::steady_clock::now() < deadline) {
      for (const std::string& file : files()) {
        left = file.starts_with(".limpid-") && file.ends_with(name) ? file : left;
      }
      std::this_thread::sleep_for(5ms);
    }
    process.send_signal(SIGKILL);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
    ASSERT_FALSE(left.empty()) << name;
    EXPECT_GT(packet_count(path(left), "v"), 20U) << name;
    EXPECT_FALSE(std::filesystem::exists(path(name)));
  }
}

}  // namespace
}  // namespace limpid::test
