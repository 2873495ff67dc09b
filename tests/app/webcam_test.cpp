// `limpid webcam` on a camera that a preloaded library stands in for, and on a screen.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/app/screen.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;
using io::blue;
using io::green;
using io::Pixel;
using io::red;

constexpr const char* kCamera = "/dev/video70";
constexpr const char* kLoopback = "/dev/video71";
const std::vector<std::string> kQuick = {"--profile", "fast", "--sigma", "5", "--no-osd"};

class WebcamTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (std::string_view(LIMPID_CAMERA_STAND_IN).empty()) {
      GTEST_SKIP() << "nothing can be loaded before a sanitizer's library, so there is no camera";
    }
    ProgramTest::SetUp();
  }

  /// limpid with a camera that gives `format`, 30 frames a second, of a picture that is orange on the left
  /// and blue on the right, and is unplugged after `frames`.
  std::vector<std::string> with_camera(const std::string& format, int frames,
                                       const std::vector<std::string>& arguments) const {
    const std::string pixels = format == "mjpeg" ? "yuvj422p" : format == "yuyv" ? "yuyv422" : "nv12";
    const std::string file =
        make("frame." + format,
             {"-f", "lavfi", "-i", "color=0xC08020:size=64x48,drawbox=32:0:32:48:0x2040C0:fill", "-frames:v",
              "1", "-pix_fmt", pixels, "-q:v", "1", "-f", format == "mjpeg" ? "mjpeg" : "rawvideo"});
    std::vector<std::string> command{
        "env",
        "--unset=DISPLAY",
        "SDL_VIDEODRIVER=dummy",
        std::string("LD_PRELOAD=") + LIMPID_CAMERA_STAND_IN,
        "LIMPID_TEST_CAMERA=" + format + ":64x48:30:" + std::to_string(frames) + ":" + file,
        "LIMPID_TEST_LOOPBACK=" + path("loopback.yuv"),
    };
    const std::vector<std::string> program = limpid_command(arguments);
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }

  static std::vector<std::string> webcam(const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"webcam"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), kQuick.begin(), kQuick.end());
    return arguments;
  }
};

TEST_F(WebcamTest, ShowsEveryFormatInItsColors) {
  for (const std::string format : {"mjpeg", "yuyv", "nv12"}) {
    const std::string name = format == "yuyv" ? "yuyv422" : format;
    expect_success(
        run(with_camera(format, 0,
                        webcam({kCamera, "--input-format", name, "--size", "64x48", "--frames", "3", "--view",
                                "denoised", "--screenshot", path("shown.png"), "--window-size", "64x48"}))));
    const io::RgbImage shown = read_png(path("shown.png"));
    const Pixel left = shown.row(24)[16];
    const Pixel right = shown.row(24)[48];
    constexpr int kTolerance = 6;  // of JPEG and of 8-bit 4:2:2
    EXPECT_NEAR(red(left), 0xC0, kTolerance) << format;
    EXPECT_NEAR(green(left), 0x80, kTolerance) << format;
    EXPECT_NEAR(blue(left), 0x20, kTolerance) << format;
    EXPECT_NEAR(red(right), 0x20, kTolerance) << format;
    EXPECT_NEAR(green(right), 0x40, kTolerance) << format;
    EXPECT_NEAR(blue(right), 0xC0, kTolerance) << format;
  }
}

TEST_F(WebcamTest, UnpluggingEndsWithAMessageAndAFinishedRecording) {
  const Outcome outcome = run(with_camera(
      "yuyv", 15, webcam({kCamera, "--record", path("out.mkv"), "--loopback", kLoopback, "--json"})));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("is gone: No such device"), std::string::npos) << outcome.err;
  const std::vector<double> times = frame_times(path("out.mkv"));
  ASSERT_GE(times.size(), 3U);
  EXPECT_LT(times.front(), 1) << "the camera's clock begins with the first frame";
  EXPECT_LT(times.back() - times.front(), 1);
  EXPECT_EQ(files(), (std::vector<std::string>{"frame.yuyv", "loopback.yuv", "out.mkv"}));
  // Whole frames of 64x48 4:2:0, as many as were recorded.
  EXPECT_EQ(std::filesystem::file_size(path("loopback.yuv")), times.size() * (64 * 48 * 3 / 2));
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_GE(report["frames_shown"], 1);
}

TEST_F(WebcamTest, ListsWhatTheCameraOffers) {
  const Outcome outcome = run(with_camera("mjpeg", 0, {"webcam", "--list", kCamera}));
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("/dev/video70  Stand-in camera"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("  mjpeg  (The only format)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("    64x48  30 fps"), std::string::npos) << outcome.out;
  const Outcome json = run(with_camera("mjpeg", 0, {"webcam", "--list", kCamera, "--json"}));
  EXPECT_EQ(nlohmann::json::parse(json.out)["cameras"][0]["formats"][0]["modes"][0]["width"], 64);
}

TEST_F(WebcamTest, SaysWhatItCantDo) {
  expect_failure(limpid(webcam({"/dev/video63"})), 1, {"/dev/video63"});
  expect_failure(limpid({"webcam", "--list", "/dev/null"}), 1, {"/dev/null: is not a camera"});
  expect_failure(limpid(webcam({"--input-format", "lavfi"})), 2, {"the device is missing"});
  write_file(path("old.mkv"), "old");
  expect_failure(run(with_camera("nv12", 0, webcam({kCamera, "--record", path("old.mkv")}))), 1,
                 {"old.mkv", "-y"});
  EXPECT_EQ(read_file(path("old.mkv")), "old");
}

TEST_F(WebcamTest, OtherInputsPlayAtTheirOwnPace) {
  const Outcome outcome = run({"env", "SDL_VIDEODRIVER=dummy", LIMPID_PROGRAM, "webcam",
                               "testsrc2=size=64x48:rate=20:duration=0.5", "--input-format", "lavfi",
                               "--profile", "fast", "--sigma", "5", "--record", path("out.mkv")});
  expect_success(outcome);
  EXPECT_GE(frame_count(path("out.mkv")), 5U)
      << "as fast as they could be read, nearly all would have been dropped";
}

// What happens in front of the camera shows in the window. How soon is printed, not asserted.
TEST_F(ScreenTest, FromGlassToGlass) {
  constexpr int kChanges = 20;
  Lamp lamp(display());
  lamp.set(false);
  Process live(on_screen({"webcam",         "--input-format",
                          "x11grab",        display() + ".0",
                          "--size",         "64x48",
                          "--fps",          "60",
                          "--input-option", "draw_mouse=0",
                          "--profile",      "fast",
                          "--sigma",        "5",
                          "--no-osd",       "--no-vsync",
                          "--view",         "denoised",
                          "--window-size",  "64x48",
                          "--log-level",    "debug",
                          "--json"}));
  expect_said(live, "shown: the first frame");
  xdotool({"windowmove", "--sync", find_window("limpid"), "600", "500"});
  std::vector<double> latencies;
  for (int change = 0; change < kChanges; ++change) {
    const bool on = change % 2 == 0;
    // At any moment between two captures.
    std::this_thread::sleep_for(std::chrono::milliseconds(40 + 7 * change % 17));
    const auto begin = std::chrono::steady_clock::now();
    lamp.set(on);
    while (lamp.is_bright(632, 524) != on) {
      ASSERT_LT(std::chrono::steady_clock::now() - begin, 20s) << "the change never came through";
      std::this_thread::sleep_for(200us);
    }
    latencies.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(latencies.begin(), latencies.end());
  std::cout << "glass to glass at 60 fps: median " << latencies[kChanges / 2] << " ms, greatest "
            << latencies.back() << " ms\n";
  type({"q"});
  const Outcome outcome = live.wait(20s);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::cout << "from decoding to the screen: " << nlohmann::json::parse(outcome.out)["latency_ms"].dump()
            << "\n";
}

TEST_F(ScreenTest, AScreenIsALiveSource) {
  // A window that shows a frame in red, captured where it lies.
  const std::string clip = make("red.mkv", {"-f", "lavfi", "-i", "color=red:size=64x48:rate=10", "-frames:v",
                                            "2", "-pix_fmt", "yuv444p", "-c:v", "ffv1"});
  Process shown(on_screen({"preview", clip, "--sigma", "0", "--no-osd", "--keep-open", "--window-size",
                           "200x100", "--view", "noisy", "--log-level", "debug"}));
  expect_said(shown, "shown: the first frame");
  const std::string window = find_window("red.mkv");
  xdotool({"windowmove", window, "40", "60"});
  Process live(on_screen({"webcam",          "--input-format",
                          "x11grab",         display() + ".0+60,80",
                          "--size",          "64x48",
                          "--fps",           "20",
                          "--profile",       "fast",
                          "--sigma",         "5",
                          "--no-osd",        "--view",
                          "denoised",        "--window-size",
                          "64x48",           "--picture-folder",
                          path(""),          "--log-level",
                          "debug",           "--record",
                          path("screen.mkv")}));
  expect_said(live, "shown: the first frame");
  xdotool({"windowmove", find_window("limpid"), "600", "500"});
  type({"q"});
  const Outcome outcome = live.wait(20s);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_GE(frame_count(path("screen.mkv")), 1U);
}

}  // namespace
}  // namespace limpid::test
