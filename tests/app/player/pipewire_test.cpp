// SPDX-License-Identifier: MIT
// `limpid webcam` as a camera of PipeWire, with a server and a program that shows the camera.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPicture = "color=0xC08020:size=66x48:rate=20,drawbox=32:0:34:48:0x2040C0:fill";

/// A machine with the programs of PipeWire, whose server has a socket in the folder of the test.
class PipeWireTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (!can_run({"sh", "-c", "command -v pipewire && command -v pw-link && gst-inspect-1.0 pipewiresrc"})) {
      GTEST_SKIP() << "the programs of PipeWire are absent";
    }
    std::filesystem::create_directory(path("run"));
    if (run(live({})).err.find("this build is without PipeWire") != std::string::npos) {
      GTEST_SKIP() << "this build is without PipeWire";
    }
  }

  std::vector<std::string> here(const std::vector<std::string>& command) const {
    return joined({"env", "XDG_RUNTIME_DIR=" + path("run")}, command);
  }
  /// limpid with a stream that is orange on the left and blue on the right.
  std::vector<std::string> live(const std::vector<std::string>& options) const {
    return here(limpid_command(
        joined({"webcam", std::string(kPicture) + ",format=yuv422p", "--input-format", "lavfi", "--no-window",
                "--filter", "bilateral", "--sigma", "1", "--loopback", "pipewire"},
               options)));
  }
  /// Starts the server, and returns when it answers.
  std::unique_ptr<Process> start_server() const {
    auto server = std::make_unique<Process>(here({"pipewire"}));
    for (int tries = 0; tries < 100 && !std::filesystem::exists(path("run/pipewire-0")); ++tries) {
      std::this_thread::sleep_for(50ms);
    }
    return server;
  }
  /// Stores frames that a program receives from the camera.
  Outcome show_frames(const std::string& file, int frames) const {
    Process program(here(
        {"gst-launch-1.0", "pipewiresrc", "target-object=limpid", "num-buffers=" + std::to_string(frames),
         "!", "video/x-raw,format=YUY2,width=66,height=48", "!", "filesink", "location=" + file}));
    // On desktops, the session manager links the two.
    while (!program.has_ended() && !can_run(here({"pw-link", "limpid", "gst-launch-1.0"})) &&
           run(here({"pw-link", "--links"})).out.find("|->") == std::string::npos) {
      std::this_thread::sleep_for(50ms);
    }
    return program.wait();
  }
};

TEST_F(PipeWireTest, ProgramsShowTheDenoisedFrames) {
  const std::unique_ptr<Process> server = start_server();
  Process camera(live({}));
  ASSERT_TRUE(
      camera.wait_for_err("loopback to pipewire: select the camera \"Limpid\" in the meeting program"))
      << camera.err_so_far();
  constexpr int kFrames = 5;
  const Outcome shown = show_frames(path("shown.yuv"), kFrames);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  camera.send_signal(SIGINT);
  EXPECT_EQ(camera.wait().err.find("error"), std::string::npos);

  make("truth.yuv",
       {"-f", "lavfi", "-i", kPicture, "-frames:v", "1", "-pix_fmt", "yuyv422", "-f", "rawvideo"});
  const std::string truth = read_file(path("truth.yuv"));
  const std::string frames = read_file(path("shown.yuv"));
  ASSERT_EQ(frames.size(), kFrames * truth.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto expected = static_cast<std::uint8_t>(truth[i % truth.size()]);
    ASSERT_NEAR(static_cast<std::uint8_t>(frames[i]), expected, 4) << i;
  }
}

TEST_F(PipeWireTest, ARecordingOutlivesTheServer) {
  const std::unique_ptr<Process> server = start_server();
  Process camera(live({"--record", path("out.mkv"), "--frames", "60"}));
  ASSERT_TRUE(camera.wait_for_err("select the camera"));
  server->send_signal(SIGTERM);
  const Outcome outcome = camera.wait();
  expect_failure(outcome, 1, {"pipewire", "the server has ended the camera"});
  EXPECT_EQ(frame_count(path("out.mkv")), 60U);
}

TEST_F(PipeWireTest, SaysThatNoServerRuns) {
  expect_failure(run(live({})), 1,
                 {"pipewire: no server answers", "start PipeWire", "modprobe v4l2loopback"});
}

}  // namespace
}  // namespace limpid::test
