// SPDX-License-Identifier: MIT
// `limpid preview` as its users meet it: on a screen, with keys and a mouse.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
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
using io::RgbImage;

constexpr int kScale = 4;  // of the window to the clip
constexpr int kWidth = 128;
constexpr int kHeight = 96;

// Below it the window tells what the last key has done.
constexpr int kNotices = 300;

/// How far two pixels are apart in the channel that differs most.
int distance(Pixel a, Pixel b) {
  return std::max({std::abs(red(a) - red(b)), std::abs(green(a) - green(b)), std::abs(blue(a) - blue(b))});
}

/// Displays interpolate chroma in 8 bits.
constexpr int kRounding = 3;

/// How far two pictures are apart where they differ most; 255 if their sizes differ.
int distance(const RgbImage& a, const RgbImage& b) {
  if (a.width != b.width || a.height != b.height) {
    return 255;
  }
  int greatest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    greatest = std::max(greatest, distance(a.pixels[i], b.pixels[i]));
  }
  return greatest;
}

/// Whether the columns from `first` to `last` - 1 of the window show the picture, `kScale` times as large.
testing::AssertionResult shows(const RgbImage& window, const RgbImage& picture, int first, int last,
                               int tolerance = kRounding) {
  if (window.width != picture.width * kScale || window.height != picture.height * kScale) {
    return testing::AssertionFailure() << "the window is " << window.width << "x" << window.height;
  }
  for (int y = 0; y < kNotices; ++y) {
    for (int x = first; x < last; ++x) {
      if (const int far = distance(window.row(y)[x], picture.row(y / kScale)[x / kScale]); far > tolerance) {
        return testing::AssertionFailure() << "it differs by " << far << " at " << x << ", " << y;
      }
    }
  }
  return testing::AssertionSuccess();
}

/// Mean difference between neighbors: how noisy a picture is.
double roughness(const RgbImage& image) {
  double sum = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 1; x < image.width; ++x) {
      sum += std::abs(green(image.row(y)[x]) - green(image.row(y)[x - 1]));
    }
  }
  return sum / image.height / (image.width - 1);
}

class PreviewTest : public ScreenTest {
 protected:
  void SetUp() override {
    ScreenTest::SetUp();
    if (!IsSkipped()) {
      clip_ = make("clip.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=10:duration=8:size=128x96", "-vf",
                                "noise=alls=20:allf=t:all_seed=1,format=yuv420p", "-c:v", "ffv1"});
    }
  }
  const std::string& clip() const { return clip_; }
  void set_clip(const std::string& clip) { clip_ = clip; }

  std::vector<std::string> preview(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"preview",          clip_,   "--profile",     "fast",
                                       "--sigma",          "5",     "--window-size", "512x384",
                                       "--log-level",      "debug", "--no-osd",      "--no-vsync",
                                       "--picture-folder", path("")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return on_screen(arguments);
  }

  /// What the window shows of a frame, by the key S, once it shows that frame.
  RgbImage window_picture(std::int64_t frame) { return read_png(save("S", frame, "window")); }
  struct Pictures {
    RgbImage noisy, denoised, split;
  };
  Pictures pictures(std::int64_t frame) {
    const std::string split = save("s", frame, "split");
    const std::string stem = split.substr(0, split.size() - std::string("split.png").size());
    return {read_png(stem + "noisy.png"), read_png(stem + "denoised.png"), read_png(split)};
  }

 private:
  /// Types a key until it saves another picture of that frame and kind, whose path is returned.
  std::string save(const std::string& key, std::int64_t frame, const std::string& kind) {
    std::array<char, 16> index{};
    std::snprintf(index.data(), index.size(), "-%06d", static_cast<int>(frame));
    const std::string beginning = std::filesystem::path(clip_).stem().string() + index.data();
    const auto newest = [&] {
      std::string found;
      for (const std::string& name : files()) {
        if (name.starts_with(beginning) && name.ends_with("-" + kind + ".png") && !saved_.contains(name)) {
          found = name;
        }
      }
      return found;
    };
    for (int i = 0; i < 30; ++i) {
      type({key});
      for (int j = 0; j < 50; ++j) {
        std::this_thread::sleep_for(20ms);
        if (const std::string name = newest(); !name.empty()) {
          saved_.insert(name);
          return path(name);
        }
      }
    }
    ADD_FAILURE() << "no picture of frame " << frame;
    return "";
  }

  std::string clip_;
  std::set<std::string> saved_;
};

TEST_F(PreviewTest, ViewsSplitAndZoomShowWhatTheySay) {
  Process process(preview({}));
  const std::string window = find_window("clip.mkv");
  type({"space", "Home", "t"});  // a frame that is known
  pictures(0);
  for (const int split : {128, 400}) {
    point(window, split - 8, 100);  // where it appears first moves nothing
    point(window, split, 100);
    const RgbImage shown = window_picture(0);
    const Pictures saved = pictures(0);
    ASSERT_EQ(saved.noisy.width, kWidth);
    ASSERT_EQ(saved.noisy.height, kHeight);
    EXPECT_TRUE(shows(shown, saved.noisy, 0, split - 2));
    EXPECT_TRUE(shows(shown, saved.denoised, split + 2, shown.width));
    EXPECT_FALSE(shows(shown, saved.denoised, 0, split - 2));
    EXPECT_EQ(shown.row(7)[split], io::make_pixel(255, 255, 255)) << "the line";
    EXPECT_EQ(saved.split.row(5)[split / kScale - 3], saved.noisy.row(5)[split / kScale - 3]);
    EXPECT_EQ(saved.split.row(5)[split / kScale + 3], saved.denoised.row(5)[split / kScale + 3]);
  }
  const Pictures saved = pictures(0);
  EXPECT_LT(roughness(saved.denoised), roughness(saved.noisy));

  // The pictures are the clip's own.
  io::Reader reader(clip());
  const RgbImage first = io::screen_picture(std::get<Frame>(reader.read()), reader.display());
  EXPECT_EQ(saved.noisy.pixels, first.pixels);

  const auto after = [&](const std::string& key) {
    type({key});
    return window_picture(0);
  };
  EXPECT_TRUE(shows(after("1"), saved.noisy, 0, kWidth * kScale));
  EXPECT_TRUE(shows(after("2"), saved.denoised, 0, kWidth * kScale));
  const RgbImage difference = after("6");
  EXPECT_TRUE(std::all_of(difference.pixels.begin(), difference.pixels.end(), [](Pixel pixel) {
    return red(pixel) == green(pixel) && blue(pixel) == green(pixel);
  })) << "gray";
  EXPECT_GT(roughness(difference), 0);
  type({"1"});
  point(window, 256, 192);
  type({"z"});  // 4:1 fits
  const RgbImage close_up = window_picture(0);
  for (const auto& [x, y] : {std::pair{3, 5}, std::pair{250, 100}, std::pair{505, 170}}) {
    // The middle of the picture is in the middle of the window.
    EXPECT_LE(distance(close_up.row(y)[x], saved.noisy.row((y - 192 + 48 * 8) / 8)[(x - 256 + 64 * 8) / 8]),
              kRounding)
        << x << ", " << y;
  }

  type({"q"});
  const Outcome outcome = process.wait();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(PreviewTest, KeysMoveToTheRightFrame) {
  Process process(preview({"--view", "denoised"}));
  const std::string window = find_window("clip.mkv");
  type({"space", "Home"});
  const Pictures first = pictures(0);
  type({"plus", "plus", "plus", "plus", "plus"});
  EXPECT_LT(roughness(pictures(0).denoised), roughness(first.denoised)) << "with a higher level";

  io::Reader reader(clip());
  const auto shows_frame = [&](std::int64_t frame) {
    reader.seek(static_cast<double>(frame) / 10);
    return pictures(frame).noisy.pixels ==
           io::screen_picture(std::get<Frame>(reader.read()), reader.display()).pixels;
  };
  for (const auto& [key, frame] : {std::pair{"Right", 50}, {"period", 51}, {"comma", 50}, {"comma", 49}}) {
    type({key});
    EXPECT_TRUE(shows_frame(frame)) << key;
  }

  const RgbImage plain = window_picture(49);
  type({"i"});
  const RgbImage statistics = window_picture(49);
  int white = 0;
  int darker = 0;
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 300; ++x) {
      white += green(statistics.row(y)[x]) > 200 && green(plain.row(y)[x]) < 190 ? 1 : 0;
      darker += green(statistics.row(y)[x]) < green(plain.row(y)[x]) ? 1 : 0;
    }
  }
  EXPECT_GT(white, 200) << "text";
  EXPECT_GT(darker, 5000) << "the box behind it";
  type({"question"});
  EXPECT_NE(window_picture(49).row(192)[256], statistics.row(192)[256]);

  close(window);
  const Outcome outcome = process.wait();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(PreviewTest, APassageIsWrittenAndItsCommandLineIsToldAtTheEnd) {
  Process process(preview({"--json"}));
  find_window("clip.mkv");
  type({"space", "Home"});
  pictures(0);
  type({"period"});
  pictures(1);
  type({"I", "period"});
  pictures(2);
  type({"O", "w"});
  const std::string output = path("clip-denoised.mkv");
  EXPECT_TRUE(process.wait_for_err("frames in "));
  std::this_thread::sleep_for(1s);  // until the window knows, which otherwise asks
  type({"q"});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["command"],
            "limpid denoise " + clip() +
                " --filter vbm4d:quality=fast --sigma 5 --start 0.075 --end 0.275 --encoding lossless -o " +
                path("clip-denoised-2.mkv"));
  io::Reader reader(output);
  int frames = 0;
  for (io::Reader::Item item = reader.read(); std::holds_alternative<Frame>(item); item = reader.read()) {
    ++frames;
  }
  EXPECT_EQ(frames, 2);
}

// Keys of a real keyboard, and a file that is slow to write.
TEST_F(PreviewTest, HeldKeysAndClosingAreSafe) {
  Process process(on_screen({"preview", clip(), "--filter", "vnlb", "--pace", "fixed", "--sigma", "5",
                             "--no-vsync", "--no-memory", "--json"}));
  const std::string window = find_window("clip.mkv");
  EXPECT_NE(xdotool({"getwindowgeometry", window}).find("Geometry: 1152x720"), std::string::npos)
      << "1280x720, but at most nine tenths of the screen";
  xdotool({"keydown", "shift+Up", "sleep", "1.5", "keyup", "shift+Up"});
  type({"Escape", "Escape", "w"});
  std::this_thread::sleep_for(500ms);
  close(window);
  std::this_thread::sleep_for(500ms);
  type({"Escape", "q", "c"});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("clip-denoised.mkv is not complete: it was canceled"), std::string::npos);
  EXPECT_NE(outcome.out.find("--strength"), std::string::npos) << "a held key repeats steps";
}

TEST_F(PreviewTest, AnotherFileIsShownInTheSameWindow) {
  std::filesystem::copy_file(clip(), path("zebra.mkv"));
  Process process(on_screen({"preview", clip(), "--no-memory", "--sigma", "5", "--profile", "fast"}));
  const std::string window = find_window("clip.mkv");
  type({"ctrl+o", "z", "Return"});
  EXPECT_EQ(find_window("zebra.mkv"), window);
  EXPECT_NE(plain_title(window).find("zebra.mkv"), std::string::npos);
  type({"space", "End", "q"});
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(PreviewTest, ARealClipIsSplitAndSeeksToTheRightFrame) {
  const std::string real = std::string(LIMPID_DATA_DIR) + "/video/foreman_cif_intra_300f.264";
  if (!std::filesystem::exists(real)) {
    GTEST_SKIP() << real << " is absent";
  }
  set_clip(real);
  Process process(preview({}));
  const std::string window = find_window("foreman_cif_intra_300f.264");
  type({"space", "Home", "t"});
  pictures(0);
  point(window, 240, 192);
  point(window, 256, 192);

  io::Reader reader(real);
  std::int64_t next = 0;
  for (const std::int64_t index : {0, 125}) {
    if (index > 0) {
      type({"Right"});
    }
    Frame frame;
    for (; next <= index; ++next) {
      frame = std::get<Frame>(reader.read());
    }
    const RgbImage expected = io::screen_picture(frame, reader.display());
    const Pictures saved = pictures(index);
    EXPECT_EQ(saved.noisy.pixels, expected.pixels) << index;
    EXPECT_LT(roughness(saved.denoised), roughness(saved.noisy)) << index;
    for (int y = 0; y < saved.split.height - 60; ++y) {  // below are its labels
      ASSERT_TRUE(std::equal(saved.split.row(y), saved.split.row(y) + 170, saved.noisy.row(y))) << y;
      ASSERT_TRUE(std::equal(saved.split.row(y) + 182, saved.split.row(y) + saved.split.width,
                             saved.denoised.row(y) + 182))
          << y;
    }
  }

  type({"q"});
  const Outcome outcome = process.wait();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(PreviewTest, AHiddenWindowHoldsNothingUpAndTheEndIsTheEnd) {
  const std::string brief =
      make("Müritz – brief.mkv",
           {"-f", "lavfi", "-i", "testsrc2=rate=20:duration=1.5:size=64x48", "-c:v", "ffv1"});
  Process process(
      on_screen({"preview", brief, "--profile", "fast", "--sigma", "5", "--json", "--close-at-end"}));
  const std::string window = find_window("brief.mkv");
  EXPECT_EQ(plain_title(window), "Müritz – brief.mkv - limpid");
  xdotool({"windowunmap", window});
  const Outcome outcome = process.wait();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["frames_shown"].get<int>() + report["frames_dropped"].get<int>(), 30);
}

// Without a screen, by SDL's offscreen driver.
class ScriptedPreviewTest : public ProgramTest {
 protected:
  static std::vector<std::string> headless(const std::vector<std::string>& arguments,
                                           const std::string& video = "SDL_VIDEODRIVER=offscreen",
                                           const std::string& audio = "SDL_AUDIODRIVER=dummy") {
    std::vector<std::string> command{"env", "--unset=DISPLAY", "--unset=WAYLAND_DISPLAY", video, audio};
    const std::vector<std::string> program = limpid_command(arguments);
    command.insert(command.end(), program.begin(), program.end());
    return command;
  }
};

TEST_F(ScriptedPreviewTest, TakesAPictureOfExactlyTheFrameAskedFor) {
  const std::string clip = make_clip("clip.mkv", 12);
  const Outcome outcome =
      run(headless({"preview", clip, "--sigma", "0", "--profile", "fast", "--frames", "9", "--screenshot",
                    path("nine.png"), "--no-osd", "--view", "noisy", "--window-size", "64x48"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("nine.png, 64x48"), std::string::npos) << outcome.err;
  io::Reader reader(clip);
  RgbImage expected;
  for (int i = 0; i < 9; ++i) {
    expected = io::screen_picture(std::get<Frame>(reader.read()), reader.display());
  }
  EXPECT_LE(distance(read_png(path("nine.png")), expected), kRounding);
}

TEST_F(ScriptedPreviewTest, BothPicturesAreSideBySide) {
  const std::string clip = make_clip("clip.mkv", 1);
  expect_success(run(headless({"preview", clip, "--sigma", "0", "--profile", "fast", "--screenshot",
                               path("both.png"), "--no-osd", "--view", "side", "--window-size", "128x48"})));
  const RgbImage both = read_png(path("both.png"));
  io::Reader reader(clip);
  const RgbImage picture = io::screen_picture(std::get<Frame>(reader.read()), reader.display());
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < both.width; ++x) {
      ASSERT_LE(distance(both.row(y)[x], picture.row(y)[x % picture.width]), kRounding) << x << ", " << y;
    }
  }
}

// Of what a window takes no later frames for while it plays.
TEST_F(ScriptedPreviewTest, ItsPicturesAreWhatDenoiseMakesOfTheFrame) {
  const std::string clip = make_clip("clip.mkv", 12);
  const std::vector<std::string> filter{"--filter", "vbm4d", "--profile", "fast", "--sigma", "12"};
  std::vector<std::string> denoise{"denoise", clip, "-o", path("whole.mkv"), "-c", "ffv1"};
  denoise.insert(denoise.end(), filter.begin(), filter.end());
  expect_success(run(limpid_command(denoise)));
  io::Reader reader(path("whole.mkv"));
  RgbImage expected;
  for (const int frame : {1, 5, 12}) {
    const std::string picture = path(std::to_string(frame) + ".png");
    std::vector<std::string> preview{"preview",      clip,     "--frames", std::to_string(frame),
                                     "--screenshot", picture,  "--no-osd", "--window-size",
                                     "64x48",        "--view", "denoised"};
    preview.insert(preview.end(), filter.begin(), filter.end());
    expect_success(run(headless(preview)));
    for (std::optional<Frame> next; !next || next->index < frame - 1;) {
      next = std::get<Frame>(reader.read());
      expected = io::screen_picture(*next, reader.display());
    }
    EXPECT_LE(distance(read_png(picture), expected), kRounding) << frame;
  }
}

TEST_F(ScriptedPreviewTest, ShowsThePicturesThatFiltersMake) {
  const std::string clip = make_clip("clip.mkv", 4);
  const std::string chain = "crop=48:32:8:4,transpose=clock,negate";
  const std::string filtered = make("filtered.mkv", {"-i", clip, "-vf", chain, "-c:v", "ffv1"});
  const auto shown = [&](const std::string& input, const std::string& view, std::vector<std::string> more) {
    std::vector<std::string> preview{
        "preview",  input,    "--sigma",       "0",     "--frames", "3", "-y", "--screenshot", path("a.png"),
        "--no-osd", "--json", "--window-size", "64x96", "--view",   view};
    preview.insert(preview.end(), more.begin(), more.end());
    const Outcome outcome = run(headless(preview));
    expect_success(outcome);
    return std::pair(read_png(path("a.png")), outcome.out);
  };
  for (const char* const view : {"noisy", "denoised", "split"}) {
    const auto [picture, report] = shown(clip, view, {"--after", chain});
    EXPECT_LE(distance(picture, shown(filtered, view, {}).first), kRounding) << view;
    EXPECT_NE(report.find("--after " + chain), std::string::npos) << report;
  }
  expect_failure(run(headless({"preview", clip, "--after", "bwdif"})), 2, {"--after", "bwdif", "the window"});
  expect_failure(run(headless({"preview", clip, "--after", "crop=300:300"})), 2, {"--after", "crop"});
}

TEST_F(ScriptedPreviewTest, AFolderOfPicturesIsASequence) {
  std::filesystem::create_directory(path("shots"));
  make("shots/IMG_0107.png",
       {"-f", "lavfi", "-i", "testsrc2=rate=5:size=64x48:duration=1", "-frames:v", "1"});
  std::filesystem::copy_file(path("shots/IMG_0107.png"), path("shots/IMG_0108.png"));
  write_file(path("shots/notes.txt"), "x");
  const Outcome outcome =
      run(headless({"preview", path("shots"), "--sigma", "0", "--close-at-end", "--json"}));
  expect_success(outcome);
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report["frames_shown"].get<int>() + report["frames_dropped"].get<int>(), 2);
  std::filesystem::create_directory(path("empty"));
  expect_failure(run(headless({"preview", path("empty")})), 2,
                 {"empty: is a folder without numbered pictures"});
}

TEST_F(PreviewTest, ASignalHasItsExitCode) {
  for (const auto& [signal, code] : {std::pair{SIGTERM, 143}, {SIGHUP, 129}, {SIGINT, 130}}) {
    Process process(preview({}));
    expect_picture(find_window("clip.mkv"));
    process.send_signal(signal);
    EXPECT_EQ(process.wait().exit_code, code);
  }
}

TEST_F(ScriptedPreviewTest, VeryNarrowPicturesGetAWindow) {
  const std::string clip = make_clip("narrow.mkv", 1, "4x302");
  expect_success(run(headless({"preview", clip, "--sigma", "0", "--screenshot", path("a.png")})));
  EXPECT_GE(read_png(path("a.png")).width, 240);
}

// Libraries have a say of their own where there is neither a sound card nor a desktop.
TEST_F(ScriptedPreviewTest, TellsInOneLineThatThereIsNoSound) {
  const auto told = [&](const std::string& name, const std::vector<std::string>& sound) {
    std::vector<std::string> arguments{"-f", "lavfi", "-i", "testsrc2=rate=20:size=64x48:duration=0.1"};
    arguments.insert(arguments.end(), sound.begin(), sound.end());
    arguments.insert(arguments.end(), {"-c:v", "ffv1"});
    const Outcome outcome = run(headless(
        {"preview", make(name, arguments), "--sigma", "5", "--filter", "bilateral", "--close-at-end"},
        "SDL_VIDEODRIVER=offscreen", "SDL_AUDIODRIVER=alsa"));
    EXPECT_EQ(outcome.exit_code, 0);
    return lines(outcome.err);
  };
  const std::vector<std::string> with_sound = told("loud.mkv", {"-f", "lavfi", "-i", "sine=duration=0.1"});
  if (with_sound.size() == 2) {
    GTEST_SKIP() << "this machine has a sound card";
  }
  ASSERT_EQ(with_sound.size(), 3U);
  EXPECT_TRUE(with_sound[0].starts_with("no audio: no audio device: ")) << with_sound[0];
  EXPECT_EQ(told("silent.mkv", {}).size(), 2U) << "frames shown, and the command line";
}

TEST_F(ScriptedPreviewTest, PlaysInStepWithTheSoundAndWithoutADeviceForIt) {
  // A source whose times don't begin at zero.
  const std::string clip =
      make("slow.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=8:size=64x48:duration=1", "-f", "lavfi", "-i",
                        "sine=duration=1", "-c:v", "ffv1", "-c:a", "pcm_s16le", "-output_ts_offset", "5"});
  const auto preview = [&](const std::string& device, const std::string& frames) {
    const std::vector<std::string> program =
        headless({"preview", clip, "--sigma", "5", "--profile", "fast", "--json", "--frames", frames,
                  "--close-at-end"},
                 "SDL_VIDEODRIVER=offscreen", "SDL_AUDIODRIVER=" + device);
    std::vector<std::string> command{"env", "SDL_DISKAUDIOFILE=" + path("played.raw")};
    command.insert(command.end(), program.begin(), program.end());
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json heard = preview("disk", "100");
  EXPECT_GT(heard["frames_shown"], 1);
  EXPECT_EQ(heard["frames_shown"].get<int>() + heard["frames_dropped"].get<int>(), 8);
  EXPECT_NEAR(heard["ahead_of_sound_ms"]["median"].get<double>(), 0, 60);
  const std::string played = read_file(path("played.raw"));
  const auto silence = static_cast<std::size_t>(std::count(played.begin(), played.end(), '\0'));
  EXPECT_GT(played.size() - silence, 48000 * sizeof(float)) << "half a second of both channels";
  EXPECT_EQ(preview("absent", "2")["frames_shown"], 2);
}

TEST_F(ScriptedPreviewTest, SoundThatCantBePlayedIsNamedAndThePicturesGoOn) {
  const std::string clip =
      make("fast.nut", {"-f", "lavfi", "-i", "testsrc2=rate=20:size=64x48:duration=1", "-f", "lavfi", "-i",
                        "sine=duration=1", "-af", "asetrate=5000000", "-c:v", "ffv1", "-c:a", "pcm_s16le"});
  const Outcome outcome =
      run(headless({"preview", clip, "--sigma", "5", "--filter", "bilateral", "--close-at-end"}));
  expect_success(outcome);
  EXPECT_NE(outcome.err.find("fast.nut: no more sound: 5000000 samples"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("frames shown"), std::string::npos) << outcome.err;
}

struct Coding {
  const char* matrix;
  double kr;
  double kb;
};

TEST_F(ScriptedPreviewTest, ColorBarsHaveTheirColorsInEveryMatrixRangeAndDepth) {
  constexpr int kBar = 8;
  constexpr int kRows = 8;
  const std::vector<std::array<int, 3>> bars{{255, 255, 255}, {255, 255, 0}, {0, 255, 255}, {0, 255, 0},
                                             {255, 0, 255},   {255, 0, 0},   {0, 0, 255},   {0, 0, 0},
                                             {90, 90, 90},    {200, 120, 40}};
  int turn = 0;
  for (const Coding& coding : {Coding{"smpte170m", 0.299, 0.114}, Coding{"bt709", 0.2126, 0.0722},
                               Coding{"bt2020nc", 0.2627, 0.0593}}) {
    ++turn;
    for (const char* const range : {"tv", "pc"}) {
      for (const int depth : {8, 10, 12}) {
        if (++turn % 2 == 0) {  // half of the combinations have all pairs
          continue;
        }
        const bool limited = std::string_view(range) == "tv";
        const double steps = std::pow(2, depth - 8);
        const double top = std::pow(2, depth) - 1;
        std::array<std::vector<int>, 3> planes;
        for (const auto& [r, g, b] : bars) {
          const double y = coding.kr * r + (1 - coding.kr - coding.kb) * g + coding.kb * b;
          const double u = (b - y) / 2 / (1 - coding.kb);
          const double v = (r - y) / 2 / (1 - coding.kr);
          const auto chroma = [&](double value) {
            return limited ? std::lround((128 + 224 * value / 255) * steps)
                           : std::lround(std::pow(2, depth - 1) + top * value / 255);
          };
          const long luma = limited ? std::lround((16 + 219 * y / 255) * steps) : std::lround(top * y / 255);
          for (const auto& [plane, value] :
               {std::pair{0, luma}, std::pair{1, chroma(u)}, std::pair{2, chroma(v)}}) {
            planes[static_cast<std::size_t>(plane)].insert(
                planes[static_cast<std::size_t>(plane)].end(), kBar,
                static_cast<int>(std::clamp<long>(value, 0, std::lround(top))));
          }
        }
        std::string raw;
        for (const std::vector<int>& row : planes) {
          for (int y = 0; y < kRows; ++y) {
            for (const int value : row) {
              raw.push_back(static_cast<char>(value & 0xFF));
              if (depth > 8) {
                raw.push_back(static_cast<char>(value >> 8));
              }
            }
          }
        }
        write_file(path("bars.raw"), raw);
        const int width = kBar * static_cast<int>(bars.size());
        const std::string clip =
            make("bars.mkv", {"-f", "rawvideo", "-pix_fmt",
                              depth == 8 ? "yuv444p" : "yuv444p" + std::to_string(depth) + "le", "-s",
                              std::to_string(width) + "x" + std::to_string(kRows), "-i", path("bars.raw"),
                              // From FFmpeg 7 on encoders take frames' tags, before that the options.
                              "-vf", std::string("setparams=range=") + range + ":colorspace=" + coding.matrix,
                              "-c:v", "ffv1", "-colorspace", coding.matrix, "-color_range", range});
        expect_success(run(headless({"preview", clip, "--sigma", "0", "-y", "--screenshot", path("bars.png"),
                                     "--no-osd", "--view", "denoised", "--window-size",
                                     std::to_string(width) + "x" + std::to_string(kRows)})));
        const RgbImage shown = read_png(path("bars.png"));
        for (std::size_t i = 0; i < bars.size(); ++i) {
          const Pixel pixel = shown.row(kRows / 2)[static_cast<int>(i) * kBar + kBar / 2];
          EXPECT_NEAR(red(pixel), bars[i][0], 2)
              << coding.matrix << ", " << range << ", " << depth << ", bar " << i;
          EXPECT_NEAR(green(pixel), bars[i][1], 2)
              << coding.matrix << ", " << range << ", " << depth << ", bar " << i;
          EXPECT_NEAR(blue(pixel), bars[i][2], 2)
              << coding.matrix << ", " << range << ", " << depth << ", bar " << i;
        }
      }
    }
  }
}

TEST_F(ScriptedPreviewTest, APassageIsPlayedOnceOrAgainAndAgain) {
  const std::string clip =
      make("clip.mkv", {"-f", "lavfi", "-i", "testsrc2=rate=20:size=64x48:duration=2", "-c:v", "ffv1"});
  const auto play = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"preview",  clip,      "--start", "0.49",     "--end",
                                       "1",        "--sigma", "5",       "--filter", "bilateral",
                                       "--engine", "cpu",     "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(headless(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  };
  const nlohmann::json once = nlohmann::json::parse(play({"--close-at-end"}).out);
  EXPECT_EQ(once["frames_shown"].get<int>() + once["frames_dropped"].get<int>(), 10)
      << "of the whole clip's 40";
  EXPECT_NE(once["command"].get<std::string>().find("--start 0.490 --end 1.000"), std::string::npos);
  const Outcome again = play({"--loop", "--frames", "40"});
  EXPECT_EQ(nlohmann::json::parse(again.out)["frames_shown"], 40);
  expect_failure(limpid({"preview", clip, "--start", "2"}), 2,
                 {"--start: 2 s is not before the end of", "2.000 s"});
  expect_failure(limpid({"preview", clip, "--start", "1", "--end", "1"}), 2,
                 {"--end", "ends before it begins"});
}

TEST_F(ScriptedPreviewTest, SaysWhatItCantDo) {
  const std::string clip = make_clip("clip.mkv", 2);
  expect_failure(run(headless({"preview", clip}, "SDL_VIDEODRIVER=x11", "DISPLAY=:99999")), 1,
                 {"can't open a window on the display ':99999'"});
  expect_failure(run(headless({"preview", clip}, "--unset=SDL_VIDEODRIVER")), 1, {"there is no display"});
  expect_failure(run(headless({"preview", path("absent.mkv")})), 1, {"absent.mkv"});
  expect_failure(run(headless({"preview", clip, "--view", "both"})), 2, {"--view", "both"});
  expect_failure(run(headless({"preview", clip, "--window-size", "12"})), 2, {"--window-size", "12"});
  expect_failure(run(headless({"preview", clip, "--screenshot", path("absent/a.png")})), 1, {"a.png"});
  expect_failure(run(headless({"preview", clip, "--frames", "3", "--screenshot", path("third.png")})), 1,
                 {"clip.mkv: has no frame 3 for the screenshot: it ends after 2"});
  EXPECT_FALSE(std::filesystem::exists(path("third.png")));
  write_file(path("letter.txt"), "Dear Ada");
  const std::vector<std::string> command{"preview", clip, "--sigma", "0", "--screenshot", path("letter.txt")};
  expect_failure(run(headless(command)), 1, {"letter.txt: exists; -y overwrites it"});
  EXPECT_EQ(read_file(path("letter.txt")), "Dear Ada");
  std::vector<std::string> overwriting = command;
  overwriting.emplace_back("-y");
  expect_success(run(headless(overwriting)));
  EXPECT_GT(read_png(path("letter.txt")).width, 0);
}

}  // namespace
}  // namespace limpid::test
