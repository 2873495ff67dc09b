// SPDX-License-Identifier: MIT
// `limpid webcam` on a camera that a preloaded library stands in for, and on a screen.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "io/media/reader.h"
#include "io/screen/display.h"
#include "tests/app/program/screen.h"

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

/// A fixture with a camera of 30 frames a second.
template <typename Base>
class WithCamera : public Base {
 protected:
  /// Bytes of the frames that other programs have received.
  std::uintmax_t loopback_size() const {
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(Base::path("loopback.yuv"), failure);
    return failure ? 0 : size;
  }
  /// Waits until they receive no more, in which time the camera is looked for several times.
  bool loopback_rests() const {
    return comes_true([&] {
      const std::uintmax_t before = loopback_size();
      std::this_thread::sleep_for(600ms);
      return loopback_size() == before;
    });
  }
  /// The environment in which there is a camera that gives `format`, shows `picture`, a filter graph of
  /// ffmpeg, and is unplugged after `frames`.
  std::vector<std::string> camera(const std::string& format, int frames, const std::string& picture) const {
    return {std::string("LD_PRELOAD=") + LIMPID_CAMERA_PRELOAD,
            "LIMPID_TEST_CAMERA=" + format + ":64x48:30:" + std::to_string(frames) + ":" +
                make_frame("frame." + format, format, picture),
            "LIMPID_TEST_LOOPBACK=" + Base::path("loopback.yuv")};
  }

  std::string make_frame(const std::string& name, const std::string& format,
                         const std::string& picture) const {
    const std::string pixels = format == "mjpeg" ? "yuvj422p" : format == "yuyv" ? "yuyv422" : "nv12";
    return Base::make(name, {"-f", "lavfi", "-i", picture, "-frames:v", "1", "-pix_fmt", pixels, "-q:v", "1",
                             "-f", format == "mjpeg" ? "mjpeg" : "rawvideo"});
  }
};

std::string input_format(const std::string& camera_format) {
  return camera_format == "yuyv" ? "yuyv422" : camera_format;
}

class WebcamTest : public WithCamera<ProgramTest> {
 protected:
  /// limpid with a camera that sees orange on the left and blue on the right.
  std::vector<std::string> with_camera(const std::string& format, int frames,
                                       const std::vector<std::string>& arguments) const {
    const std::vector<std::string> environment =
        joined({"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=offscreen"},
               camera(format, frames, "color=0xC08020:size=64x48,drawbox=32:0:32:48:0x2040C0:fill"));
    return joined(environment, limpid_command(arguments));
  }

  static std::vector<std::string> webcam(const std::vector<std::string>& options) {
    return joined(joined({"webcam"}, options), kQuick);
  }
};

TEST_F(WebcamTest, ShowsEveryFormatInItsColors) {
  for (const std::string format : {"mjpeg", "yuyv", "nv12"}) {
    expect_success(run(with_camera(
        format, 0,
        webcam({kCamera, "--input-format", input_format(format), "--size", "64x48", "--frames", "3", "--view",
                "denoised", "-y", "--screenshot", path("shown.png"), "--window-size", "64x48"}))));
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

TEST_F(WebcamTest, UnpluggingInterruptsARecordingWithAMessage) {
  const Outcome outcome = run(with_camera(
      "yuyv", 15,
      webcam({kCamera, "--size", "1920x1080", "--fps", "60", "--record", path("out.mkv"), "--pix-fmt",
              "yuv420p", "--loopback", kLoopback, "--json", "--engine", "cpu", "--frames", "24"})));
  expect_success(outcome);
  // A GPU may not be ready before the camera is gone.
  EXPECT_NE(outcome.err.find(
                "delivers 64x48 instead of 1920x1080 and 30 frames a second instead of 60 (limpid webcam"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(probe(path("out.mkv"))["streams"][0]["pix_fmt"], "yuv420p");
  EXPECT_NE(outcome.err.find("is gone: No such device"), std::string::npos) << outcome.err;
  const std::vector<double> times = frame_times(path("out.mkv"));
  ASSERT_GE(times.size(), 3U);
  EXPECT_LT(times.front(), 1) << "the camera's clock begins with the first frame";
  EXPECT_EQ(files(), (std::vector<std::string>{"frame.yuyv", "loopback.yuv", "out.mkv"}));
  // Whole frames of 64x48 4:2:0, at least as many as were recorded.
  constexpr std::uintmax_t kFrame = 64 * 48 * 3 / 2;
  EXPECT_EQ(std::filesystem::file_size(path("loopback.yuv")) % kFrame, 0U);
  EXPECT_GE(std::filesystem::file_size(path("loopback.yuv")), times.size() * kFrame);
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_GE(report["frames_shown"], 1);
}

TEST_F(WebcamTest, ListsWhatTheCameraOffers) {
  const Outcome outcome = run(with_camera("mjpeg", 0, {"webcam", "--list", kCamera}));
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("/dev/video70  Stand-in \\x1b[1mcamera"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("  mjpeg  (The only format)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("    64x48  30 fps"), std::string::npos) << outcome.out;
  const Outcome json = run(with_camera("mjpeg", 0, {"webcam", "--list", kCamera, "--json"}));
  EXPECT_EQ(nlohmann::json::parse(json.out)["cameras"][0]["formats"][0]["modes"][0]["width"], 64);
}

TEST_F(WebcamTest, SaysWhatItCantDo) {
  expect_failure(limpid(webcam({"/dev/video63"})), 1, {"/dev/video63"});
  expect_failure(limpid({"webcam", "--list", "/dev/null"}), 1, {"/dev/null: is not a camera"});
  expect_failure(limpid(webcam({"--input-format", "lavfi"})), 2, {"the device is missing"});
  write_file(path("clip.mp4"), "");
  expect_failure(limpid(webcam({path("clip.mp4")})), 2, {"is a file, not a camera", "limpid preview"});
  expect_failure(run(with_camera("nv12", 0, webcam({kCamera, "--loopback", "/dev/video63"}))), 1,
                 {"/dev/video63", "device not found", "modprobe v4l2loopback"});
  write_file(path("old.mkv"), "old");
  expect_failure(run(with_camera("nv12", 0, webcam({kCamera, "--record", path("old.mkv")}))), 1,
                 {"old.mkv", "-y"});
  EXPECT_EQ(read_file(path("old.mkv")), "old");
}

// A white frame and a tone begin together once a second, in the source of the graph or in two devices.
TEST_F(WebcamTest, RecordingsHaveSoundInStepWithTheFrames) {
  const std::string picture =
      "color=black:size=64x48:rate=25,drawbox=t=fill:c=white:enable='lt(mod(t,1),0.1)'";
  const std::string sound = "aevalsrc='0.5*sin(880*PI*t)*lt(mod(t,1),0.1)':s=48000";
  const auto quick = [](const char* frames) -> std::vector<std::string> {
    return {"--input-format", "lavfi", "--no-window", "--filter", "bilateral", "--sigma", "2",
            "--engine",       "cpu",   "--frames",    frames};
  };
  for (const auto& [device, more] :
       {std::pair{picture + "[out0];" + sound + "[out1]", std::vector<std::string>{}},
        std::pair{picture, std::vector<std::string>{"--audio", sound}}}) {
    SCOPED_TRACE(device);
    const std::string out = path("out.mkv");
    expect_success(limpid(joined(joined({"webcam", device, "--record", out, "-y"}, quick("70")), more)));
    EXPECT_GT(packet_count(out, "a"), 50U);
    const Outcome seen = run({"ffmpeg", "-v", "info", "-i", out, "-vf", "blackdetect=d=0.3", "-af",
                              "silencedetect=n=-30dB:d=0.3", "-f", "null", "-"});
    const auto time_after = [&seen](const std::string& mark) {
      const std::size_t place = seen.err.find(mark);
      return place == std::string::npos ? -1 : std::stod(seen.err.substr(place + mark.size()));
    };
    EXPECT_GT(time_after("black_end:"), 0) << seen.err;
    EXPECT_NEAR(std::remainder(time_after("black_end:") - time_after("silence_end: "), 1), 0, 0.02)
        << seen.err;
  }
  expect_success(limpid(
      joined({"webcam", picture + "[out0];" + sound + "[out1]", "--record", path("silent.mkv"), "--no-audio"},
             quick("10"))));
  EXPECT_EQ(packet_count(path("silent.mkv"), "a"), 0U);
  expect_failure(
      limpid(joined({"webcam", picture, "--record", path("none.mkv"), "--audio", "default"}, quick("10"))), 1,
      {"default", "the audio device cannot be opened"});
  expect_failure(
      run(with_camera("yuyv", 0, webcam({kCamera, "--record", path("none.mkv"), "--audio", "nosuch"}))), 1,
      {"nosuch", "the audio device cannot be opened"});
}

TEST_F(WebcamTest, ARecordingOutlivesWhatElseFails) {
  const std::vector<std::string> environment = joined({"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=offscreen"},
                                                      camera("yuyv", 0, "color=gray:size=64x48"));
  expect_failure(run(joined(joined(environment, {"LIMPID_TEST_LOOPBACK=/dev/full"}),
                            limpid_command(webcam({kCamera, "--record", path("out.mkv"), "--loopback",
                                                   kLoopback, "--frames", "12"})))),
                 1, {kLoopback, "No space left on device"});
  EXPECT_EQ(files(), (std::vector<std::string>{"frame.yuyv", "out.mkv"}));
  EXPECT_GE(frame_count(path("out.mkv")), 12U) << "it goes on alone";
}

/// The command where no file may get larger than 64 KiB.
std::vector<std::string> with_small_files(const std::vector<std::string>& command) {
  return joined({"bash", "-c", "ulimit -f 64 && exec \"$@\"", "bash"}, command);
}

/// A picture that doesn't compress well, and options to record it so.
constexpr const char* kNoise = "nullsrc=size=64x48,geq=random(1)*255:128:128";
const std::vector<std::string> kLossless = {"-c", "ffv1"};

TEST_F(WebcamTest, EndsWithTheRecordingIfThereIsNoScreen) {
  const std::vector<std::string> environment =
      joined({"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=offscreen"}, camera("yuyv", 0, kNoise));
  expect_failure(
      run(with_small_files(joined(
          environment, limpid_command(joined(webcam({kCamera, "--record", path("out.mkv")}), kLossless))))),
      1, {"out.mkv: can't write: File too large", "out.partial.mkv has the"});
  EXPECT_GE(frame_count(path("out.partial.mkv")), 1U);
}

TEST_F(WebcamTest, TheWindowStaysWhenTheCameraIsUnplugged) {
  write_file(path("plugged"), "");
  for (const bool is_other : {false, true}) {
    std::filesystem::remove(path("loopback.yuv"));
    std::vector<std::string> environment = {"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=offscreen",
                                            "LIMPID_TEST_CAMERA_AFTER=" + path("plugged")};
    environment.push_back(is_other ? "LIMPID_TEST_CAMERA_THEN=32x24" : "LIMPID_TEST_CAMERA_THEN=");
    Process process(joined(joined(environment, camera("yuyv", 20, "color=gray:size=64x48")),
                           limpid_command(webcam({kCamera, "--loopback", kLoopback}))));
    ASSERT_TRUE(comes_true([&] { return loopback_size() > 0; })) << "no frame";
    std::filesystem::remove(path("plugged"));
    ASSERT_TRUE(loopback_rests());
    EXPECT_FALSE(process.has_ended());
    const std::uintmax_t shown = loopback_size();
    write_file(path("plugged"), "");
    if (is_other) {
      std::this_thread::sleep_for(600ms);  // for some attempts
    } else {
      EXPECT_TRUE(comes_true([&] { return loopback_size() > shown; }))
          << "no frame of the camera that is back";
    }
    EXPECT_FALSE(process.has_ended());
    process.send_signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 130);
    EXPECT_NE(outcome.err.find("/dev/video70: the source is gone: No such device; waiting until it is back"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_F(WebcamTest, WaitsForAnUnpluggedCameraWithoutAWindow) {
  const Outcome outcome =
      run(joined(joined({"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=absent"},
                        camera("yuyv", 8, "color=gray:size=64x48")),
                 limpid_command(webcam({kCamera, "--no-window", "--loopback", kLoopback, "--record",
                                        path("out.mkv"), "--frames", "12", "--json"}))));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("is gone: No such device; waiting until it is back"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("the source is back"), std::string::npos) << outcome.err;
  const std::vector<double> times = frame_times(path("out.mkv"));
  EXPECT_EQ(times.size(), 12U);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_GE(std::filesystem::file_size(path("loopback.yuv")), 12U * (64 * 48 * 3 / 2));
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["frames_shown"], 12);
  EXPECT_EQ(report["quality"][0]["filter"], "vbm4d:quality=fast");
  expect_failure(limpid(webcam({kCamera, "--no-window"})), 2, {"--no-window", "--loopback", "--record"});
}

TEST_F(WebcamTest, WaitsForACameraThatIsAbsentAtTheStart) {
  const std::vector<std::string> environment = joined(
      {"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=absent", "LIMPID_TEST_CAMERA_AFTER=" + path("plugged")},
      camera("yuyv", 0, "color=gray:size=64x48"));
  const auto headless = [&](const std::string& frames) {
    return joined(
        environment,
        limpid_command(webcam({kCamera, "--no-window", "--record", path("out.mkv"), "--frames", frames})));
  };
  Process process(headless("5"));
  EXPECT_TRUE(
      process.wait_for_err("/dev/video70: there is no such camera yet; waiting until it is plugged in"))
      << process.err_so_far();
  write_file(path("plugged"), "");
  const Outcome outcome = process.wait();
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("/dev/video70: running, 64x48"), std::string::npos) << outcome.err;
  EXPECT_EQ(frame_count(path("out.mkv")), 5U);

  std::filesystem::remove(path("plugged"));
  Process interrupted(headless("5"));
  EXPECT_TRUE(interrupted.wait_for_err("waiting until it is plugged in")) << interrupted.err_so_far();
  interrupted.send_signal(SIGINT);
  EXPECT_NE(interrupted.wait().exit_code, 0);
}

TEST_F(WebcamTest, SaysWhatToSelectInTheMeetingProgram) {
  const Outcome outcome =
      run(with_camera("yuyv", 0, webcam({kCamera, "--no-window", "--loopback", kLoopback, "--frames", "3"})));
  expect_success(outcome);
  EXPECT_NE(
      outcome.err.find("loopback to /dev/video71: select the camera \"Stand-in loopback\" in the meeting "
                       "program"),
      std::string::npos)
      << outcome.err;
}

TEST_F(WebcamTest, ALimitOfLoadNeedsAChoiceOfQuality) {
  expect_failure(run(with_camera("yuyv", 0, webcam({kCamera, "--max-load", "50"}))), 2,
                 {"--max-load requires --pace auto"});
  expect_success(
      run(with_camera("yuyv", 0, {"webcam", kCamera, "--max-load", "50", "--frames", "5", "--sigma", "5"})));
}

TEST_F(WebcamTest, ACameraThatIsBackWithAnotherSizeEndsWithACompleteRecording) {
  const std::vector<std::string> environment =
      joined({"env", "--unset=DISPLAY", "SDL_VIDEODRIVER=absent", "LIMPID_TEST_CAMERA_THEN=32x24"},
             camera("yuyv", 12, "color=gray:size=64x48"));
  expect_failure(
      run(joined(environment, limpid_command(webcam({kCamera, "--no-window", "--record", path("out.mkv")})))),
      1, {"/dev/video70: is back with 32x24", "instead of 64x48", "start again"});
  EXPECT_GE(frame_count(path("out.mkv")), 3U);
  EXPECT_EQ(files(), (std::vector<std::string>{"frame.yuyv", "out.mkv"}));
}

TEST_F(WebcamTest, ARecordingGoesOnWithoutItsMicrophone) {
  const Outcome outcome = limpid({"webcam", "testsrc2=size=64x48:rate=20", "--input-format", "lavfi",
                                  "--audio", "sine=duration=0.5", "--no-window", "--record", path("out.mkv"),
                                  "--frames", "40", "--filter", "bilateral", "--sigma", "2"});
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("sine=duration=0.5: the audio ended: "), std::string::npos) << outcome.err;
  EXPECT_EQ(frame_count(path("out.mkv")), 40U);
  EXPECT_GT(packet_count(path("out.mkv"), "a"), 5U);
}

TEST_F(WebcamTest, OtherInputsPlayAtTheirOwnPace) {
  const Outcome outcome = run({"env", "SDL_VIDEODRIVER=offscreen", LIMPID_PROGRAM, "webcam",
                               "testsrc2=size=64x48:rate=20:duration=0.5", "--input-format", "lavfi",
                               "--profile", "fast", "--sigma", "5", "--record", path("out.mkv")});
  expect_success(outcome);
  EXPECT_GE(frame_count(path("out.mkv")), 5U)
      << "as fast as they could be read, nearly all would have been dropped";
}

TEST_F(WebcamTest, RecordingsAreMadeForPlayersUnlessToldOtherwise) {
  const auto told_of = [&](const std::string& name, const std::vector<std::string>& options) {
    const Outcome outcome = run(joined(joined({"env", "SDL_VIDEODRIVER=offscreen", LIMPID_PROGRAM},
                                              webcam({"color=gray:s=64x48:r=20:d=0.1,format=yuv422p",
                                                      "--input-format", "lavfi", "--record", path(name)})),
                                       options));
    expect_success(outcome);
    return outcome.err.find("many players do not play yuv422p with libx264; use --pix-fmt yuv420p") !=
           std::string::npos;
  };
  EXPECT_FALSE(told_of("source.mkv", {}));
  EXPECT_EQ(probe(path("source.mkv"))["streams"][0]["pix_fmt"], "yuv420p");
  EXPECT_TRUE(told_of("named.mkv", {"-c", "libx264"}));
  EXPECT_FALSE(told_of("asked.mkv", {"--pix-fmt", "yuv422p"}));
  EXPECT_FALSE(told_of("archive.mkv", {"-c", "ffv1"}));
}

TEST_F(WebcamTest, RecordingsUseAPresetThatKeepsPaceAndNameIt) {
  const auto encoder_of = [&](const std::string& name, const std::vector<std::string>& options) {
    const Outcome outcome = limpid(
        joined({"webcam", "testsrc2=s=128x96:r=20", "--input-format", "lavfi", "--no-window", "--frames", "3",
                "--filter", "bilateral", "--sigma", "2", "--json", "--record", path(name)},
               options));
    expect_success(outcome);
    const nlohmann::json recording = nlohmann::json::parse(outcome.out)["recordings"][0];
    EXPECT_EQ(recording["file"], path(name));
    EXPECT_EQ(recording["frames"], 3);
    const std::string encoder = recording["encoder"];
    EXPECT_NE(outcome.err.find("recording to " + path(name) + ": " + encoder), std::string::npos)
        << outcome.err;
    return encoder;
  };
  EXPECT_EQ(encoder_of("quick.mkv", {}), "libx264, preset veryfast");
  EXPECT_NE(read_file(path("quick.mkv")).find("subme=2"), std::string::npos) << "as x264 describes veryfast";
  EXPECT_EQ(encoder_of("chosen.mkv", {"--preset", "medium"}), "libx264, preset medium");
  EXPECT_NE(read_file(path("chosen.mkv")).find("subme=7"), std::string::npos) << "as x264 describes medium";
  EXPECT_EQ(encoder_of("hevc.mkv", {"-c", "libx265"}), "libx265, preset ultrafast");
  EXPECT_EQ(encoder_of("av1.mkv", {"-c", "libsvtav1"}), "libsvtav1, preset 12");
  EXPECT_EQ(encoder_of("aom.mkv", {"-c", "libaom-av1"}), "libaom-av1, cpu-used 8");
  EXPECT_EQ(encoder_of("clip.webm", {}), "libvpx-vp9, cpu-used 8");
  EXPECT_EQ(encoder_of("vp8.mkv", {"-c", "libvpx"}), "libvpx, cpu-used 8");
  EXPECT_EQ(encoder_of("archive.mkv", {"-c", "ffv1"}), "ffv1");
}

/// Milliseconds from a change before a camera to that in the window, sorted. `lamp` makes the change, the
/// window is at 600, 500.
template <typename Lamp>
std::vector<double> glass_to_glass(const Eye& eye, Lamp& lamp) {
  constexpr int kChanges = 8;
  std::vector<double> latencies;
  for (int change = 0; change < kChanges; ++change) {
    const bool on = change % 2 != 0;  // it is on at first
    // At any moment between two captures.
    std::this_thread::sleep_for(std::chrono::milliseconds(40 + 7 * change % 17));
    const auto begin = std::chrono::steady_clock::now();
    lamp.set(on);
    while (eye.sees_blue(632, 524) != on) {
      if (std::chrono::steady_clock::now() - begin > 20s) {
        ADD_FAILURE() << "the change never came through";
        return {0};
      }
      std::this_thread::sleep_for(200us);
    }
    latencies.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(latencies.begin(), latencies.end());
  return latencies;
}

/// Prints how soon a change was seen, and expects it within two frames and what the program itself needed.
void expect_soon(const std::vector<double>& latencies, const std::string& source, double fps,
                 const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json own = nlohmann::json::parse(outcome.out)["latency_ms"];
  const double median = latencies[latencies.size() / 2];
  std::cout << source << " at " << fps << " fps, from glass to glass: median " << median << " ms, greatest "
            << latencies.back() << " ms; from decoding to the screen: median " << own["median"] << " ms\n";
  EXPECT_LT(median, 2000 / fps + own["max"].get<double>());
}

TEST_F(ScreenTest, GlassToGlassLatency) {
  ScreenLamp lamp(display());
  lamp.set(true);
  Process live(on_screen(joined({"webcam", "--input-format", "x11grab", display() + ".0", "--size", "64x48",
                                 "--fps", "60", "--input-option", "draw_mouse=0", "--no-vsync", "--view",
                                 "denoised", "--window-size", "64x48", "--json"},
                                kQuick)));
  const std::string window = find_window("limpid");
  expect_picture(window);
  xdotool({"windowmove", "--sync", window, "600", "500"});
  const std::vector<double> latencies = glass_to_glass(Eye(display()), lamp);
  type({"q"});
  expect_soon(latencies, "a screen", 60, live.wait());
}

/// A lamp before the camera, in a file that its library reads.
class CameraLamp {
 public:
  explicit CameraLamp(const std::string& file) {
    write_file(file, std::string(sizeof(std::int64_t), '\0'));
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* const memory =
        mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (memory == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), file);
    }
    switched_ = static_cast<std::atomic<std::int64_t>*>(memory);
  }
  CameraLamp(const CameraLamp&) = delete;
  CameraLamp& operator=(const CameraLamp&) = delete;
  CameraLamp(CameraLamp&&) = delete;
  CameraLamp& operator=(CameraLamp&&) = delete;
  ~CameraLamp() { munmap(switched_, sizeof(std::int64_t)); }

  void set(bool on) {
    const std::int64_t now =
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    *switched_ = now / 2 * 2 + (on ? 1 : 0);
  }

 private:
  std::atomic<std::int64_t>* switched_;
};

using WebcamOnScreenTest = WithCamera<ScreenTest>;

TEST_F(WebcamOnScreenTest, GlassToGlassLatency) {
  for (const std::string format : {"mjpeg", "yuyv", "nv12"}) {
    CameraLamp lamp(path("lamp"));
    make_frame("frame." + format + ".lit", format, "color=white:size=64x48");
    const std::vector<std::string> environment =
        joined(camera(format, 0, "color=black:size=64x48"), {"LIMPID_TEST_LAMP=" + path("lamp")});
    Process live(on_screen(joined({"webcam", kCamera, "--input-format", input_format(format), "--view",
                                   "denoised", "--window-size", "64x48", "--json"},
                                  kQuick),
                           environment));
    lamp.set(true);
    const std::string window = find_window("limpid");
    expect_picture(window);
    xdotool({"windowmove", "--sync", window, "600", "500"});
    const std::vector<double> latencies = glass_to_glass(Eye(display()), lamp);
    type({"q"});
    expect_soon(latencies, "a camera with " + format, 30, live.wait());
  }
}

TEST_F(WebcamOnScreenTest, AKeySwitchesTheLoopback) {
  Process live(on_screen(joined({"webcam", kCamera}, kQuick), camera("yuyv", 0, "color=gray:size=64x48")));
  find_window("limpid");
  type({"L"});
  EXPECT_TRUE(comes_true([&] { return loopback_size() > 0; })) << "other programs have frames";
  type({"L"});
  EXPECT_TRUE(loopback_rests()) << "it ends";
  type({"q"});
  expect_success(live.wait());
}

TEST_F(WebcamOnScreenTest, NothingThatHappensToTheWindowHoldsDenoisingUp) {
  for (const bool vsync : {true, false}) {
    const std::vector<std::string> environment = camera("yuyv", 0, "color=gray:size=64x48");
    std::vector<std::string> arguments = joined({"webcam", kCamera, "--loopback", kLoopback}, kQuick);
    if (!vsync) {
      arguments.emplace_back("--no-vsync");
    }
    Process live(on_screen(arguments, environment));
    const std::string window = find_window("limpid");
    expect_picture(window);
    const auto expect_denoising = [&](const std::string& state) {
      constexpr std::uintmax_t kFrames = 5;
      const std::uintmax_t wanted = loopback_size() + kFrames * 64 * 48 * 3 / 2;
      ASSERT_TRUE(comes_true([&] { return loopback_size() >= wanted; })) << state << (vsync ? ", vsync" : "");
    };
    expect_denoising("shown");
    set_frozen(true);
    expect_denoising("on a screen that doesn't draw");
    set_frozen(false);
    minimize(window);
    expect_denoising("minimized");
    xdotool({"windowunmap", "--sync", window});
    expect_denoising("hidden");
    close(window);
    const Outcome outcome = live.wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

TEST_F(WebcamOnScreenTest, ARecordingOutlivesItsWindow) {
  struct End {
    std::string name;
    std::function<void(const std::string& window)> bring_about;
    int exit_code;
    std::string message;
  };
  const std::vector<End> ends{{"destroyed", [this](const std::string& w) { destroy(w); }, 0, ""},
                              {"killed", [this](const std::string& w) { kill_owner(w); }, 1, "display"},
                              {"dark", [this](const std::string&) { kill_screen(); }, 1, "display"}};
  for (const auto& [name, bring_about, exit_code, message] : ends) {
    const std::string recording = path(name + ".mp4");  // nothing plays of one that isn't finished
    Process live(on_screen(joined({"webcam", kCamera, "--record", recording}, kQuick),
                           camera("yuyv", 0, "color=gray:size=64x48")));
    const std::string window = find_window("limpid");
    expect_picture(window);
    bring_about(window);
    const Outcome outcome = live.wait();
    EXPECT_FALSE(outcome.timed_out) << name;
    EXPECT_EQ(outcome.exit_code, exit_code) << name << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_GE(frame_count(recording), 1U) << name;
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"dark.mp4", "destroyed.mp4", "frame.yuyv", "killed.mp4"}));
}

TEST_F(WebcamOnScreenTest, TheWindowOutlivesItsRecording) {
  Process live(with_small_files(
      on_screen(joined(joined({"webcam", kCamera, "--record", path("out.mkv")}, kLossless), kQuick),
                camera("yuyv", 0, kNoise))));
  EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(path("out.partial.mkv")); })) << "at once";
  EXPECT_GE(frame_count(path("out.partial.mkv")), 1U);
  type({"e", "c"});
  std::this_thread::sleep_for(500ms);
  EXPECT_FALSE(live.has_ended());
  type({"q"});
  expect_failure(live.wait(), 1, {"out.mkv: can't write: File too large", "out.partial.mkv has the"});
}

TEST_F(WebcamOnScreenTest, AKeyRecords) {
  const auto begin = [&](const std::string& folder) {
    return joined({"env", "-C", folder},
                  on_screen(joined({"webcam", kCamera}, kQuick), camera("yuyv", 0, "color=gray:size=64x48")));
  };
  Process live(begin(folder()));
  expect_picture(find_window("limpid"));
  const auto recordings = [&] {
    return std::ranges::count_if(files(), [](const std::string& name) {
      return name.starts_with("webcam-") && name.ends_with(".mkv");
    });
  };
  type({"r"});
  std::this_thread::sleep_for(500ms);
  type({"r"});
  EXPECT_TRUE(comes_true([&] { return recordings() == 1; })) << "a complete file";
  type({"r"});
  std::this_thread::sleep_for(500ms);
  type({"q"});
  expect_success(live.wait());
  std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names.front(), "frame.yuyv");
  names.erase(names.begin());
  for (const std::string& name : names) {
    const std::vector<double> times = frame_times(path(name));
    ASSERT_GE(times.size(), 2U) << name;
    EXPECT_NEAR(times.front(), 0, 1e-3) << name;
    EXPECT_LT(times.back(), 20) << name;
  }
  // Nobody can make a file there.
  Process in_vain(begin("/proc"));
  expect_picture(find_window("limpid"));
  type({"r"});
  EXPECT_TRUE(in_vain.wait_for_err("the recording cannot begin: webcam-")) << in_vain.err_so_far();
  type({"q"});
  expect_failure(in_vain.wait(), 1, {"webcam-", "can't create a file there"});
}

TEST_F(ScreenTest, AScreenThatPlaysAClipIsALiveSource) {
  const std::string clip =
      make("clip.mkv", {"-f", "lavfi", "-i", "color=red:size=64x48:rate=10:duration=0.5", "-f", "lavfi", "-i",
                        "color=blue:size=64x48:rate=10:duration=0.5", "-filter_complex", "concat", "-pix_fmt",
                        "yuv444p", "-c:v", "ffv1"});
  Process shown(on_screen({"preview", clip, "--sigma", "0", "--no-osd", "--loop", "--window-size", "200x100",
                           "--view", "noisy"}));
  const std::string clip_window = find_window("clip.mkv");
  expect_picture(clip_window);
  xdotool({"windowmove", clip_window, "40", "60"});
  Process live(on_screen(
      joined({"webcam", "--input-format", "x11grab", display() + ".0+60,80", "--size", "64x48", "--fps", "20",
              "--view", "denoised", "--window-size", "64x48", "--record", path("screen.mkv")},
             kQuick)));
  const std::string window = find_window(display() + ".0");
  expect_picture(window);
  xdotool({"windowmove", "--sync", window, "600", "500"});
  const Eye eye(display());
  for (const bool is_blue : {true, false, true}) {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (eye.sees_blue(632, 524) != is_blue) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "the clip doesn't come through";
      std::this_thread::sleep_for(5ms);
    }
  }
  close(window);
  const Outcome outcome = live.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  int reds = 0;
  int blues = 0;
  io::Reader recording(path("screen.mkv"));
  for (io::Reader::Item item = recording.read(); !std::holds_alternative<io::Reader::End>(item);
       item = recording.read()) {
    if (const Frame* const frame = std::get_if<Frame>(&item)) {
      const Pixel pixel = io::screen_picture(*frame, recording.display()).row(24)[32];
      reds += red(pixel) > 240 && blue(pixel) < 15 ? 1 : 0;
      blues += blue(pixel) > 240 && red(pixel) < 15 ? 1 : 0;
    }
  }
  EXPECT_GE(reds, 1);
  EXPECT_GE(blues, 1);
}

}  // namespace
}  // namespace limpid::test
