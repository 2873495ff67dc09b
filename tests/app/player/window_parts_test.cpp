// SPDX-License-Identifier: MIT
// The parts that Viewer connects, each alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/console/text.h"
#include "app/player/noise_area.h"
#include "app/player/osd.h"
#include "app/player/player_screen.h"
#include "app/player/view.h"
#include "app/player/viewer.h"
#include "app/player/window_files.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

const Notices::Time kNoticeStart{100s};

TEST(NoticesTest, ATextIsShownForAWhile) {
  Notices notices;
  EXPECT_FALSE(notices.expire(kNoticeStart));
  notices.show("paused", kNoticeStart);
  EXPECT_FALSE(notices.expire(kNoticeStart + 1s));
  EXPECT_EQ(notices.text(), "paused");
  EXPECT_TRUE(notices.expire(kNoticeStart + 2s));
  EXPECT_EQ(notices.text(), "");
}

TEST(NoticesTest, AFailureStaysUntilItIsDismissed) {
  Notices notices;
  notices.report({"the disk is full", true}, kNoticeStart);
  notices.report({"4 viewers", false}, kNoticeStart);
  EXPECT_FALSE(notices.expire(kNoticeStart + 1h));
  EXPECT_EQ(notices.text(), "the disk is full");
  EXPECT_TRUE(notices.dismiss());
  EXPECT_FALSE(notices.dismiss());
  EXPECT_EQ(notices.text(), "");
  notices.report({"4 viewers", false}, kNoticeStart);
  EXPECT_EQ(notices.text(), "4 viewers");
}

std::shared_ptr<const PlayedFrame> played_with(const PlayerSettings& settings) {
  auto frame = std::make_shared<PlayedFrame>();
  frame->settings = settings;
  frame->sequence = 3;
  return frame;
}

PlayerSettings settings_named(const std::string& filter) {
  PlayerSettings settings;
  settings.filter.name = filter;
  return settings;
}

TEST(FileOutputTest, TheExpectedSizeIsThatOfTheEncodingAndThePassage) {
  ViewerOptions options;
  options.format = oracle::yuv(1000, 500, 1, 1);
  options.encoders = {"libx264", "libx264", "ffv1"};
  options.frame_count = 1000;
  options.duration = 40;
  FileOutput output(options, nullptr, [](const std::string&) {});
  EXPECT_EQ(output.description({}), "H.264, ~" + size_text(65'000'000)) << "1.04 bits a pixel";
  EXPECT_EQ(output.description({10.0, 20.0}), "H.264, ~" + size_text(16'250'000));
  EXPECT_EQ(output.description({10.0, std::nullopt}), "H.264, ~" + size_text(48'750'000));
  output.set_encoding(Encoding::kSmall);
  EXPECT_EQ(output.description({}), "H.264, ~" + size_text(18'125'000)) << "0.29 bits a pixel";
  output.set_encoding(Encoding::kLossless);
  EXPECT_EQ(output.description({}), "FFV1, ~" + size_text(290'000'000)) << "4.64 bits a pixel";
}

TEST(SettingsPairTest, BothSettingsAreRequestedUntilBothResultsExist) {
  const PlayerSettings a = settings_named("a");
  const PlayerSettings b = settings_named("b");
  SettingsPair pair;
  pair.copy(b);
  pair.begin_comparison();
  SettingsPair::Comparison comparison = pair.compare(played_with(a), a);
  EXPECT_TRUE(comparison.has_result);
  EXPECT_EQ(comparison.next, b);
  EXPECT_FALSE(pair.compare(played_with(a), b).next) << "B is under way";
  comparison = pair.compare(played_with(b), b);
  EXPECT_TRUE(comparison.has_result);
  EXPECT_EQ(comparison.next, a) << "the user's choice";
  EXPECT_FALSE(pair.choice());
  EXPECT_FALSE(pair.restore(a));
}

TEST(SettingsPairTest, TheUsersChoiceIsRestoredDuringAComparison) {
  const PlayerSettings a = settings_named("a");
  const PlayerSettings b = settings_named("b");
  SettingsPair pair;
  pair.copy(b);
  pair.begin_comparison();
  EXPECT_EQ(pair.compare(played_with(a), a).next, b);
  EXPECT_EQ(pair.restore(b), a);
  EXPECT_FALSE(pair.second());
}

TEST(AudioSyncTest, DoesNothingWithoutAudio) {
  AudioSync audio;
  EXPECT_FALSE(audio.exists());
  audio.seek_with_picture(2);
  audio.begin(2);
  EXPECT_FALSE(audio.play(true));
  EXPECT_FALSE(audio.position());
  EXPECT_EQ(audio.take_failure(), "");
}

/// The options of a window for a clip of 64x48, and its engine.
class WindowPart : public testing::Test {
 protected:
  ViewerOptions options;
  std::shared_ptr<Engine> engine = engine_registry().open("cpu", EngineOptions{1});
  std::vector<std::string> notices;
  test::TemporaryFolder folder;

  WindowPart() {
    setenv("SDL_VIDEODRIVER", "offscreen", 1);
    options.format = oracle::yuv(64, 48, 1, 1);
    options.source = "clip";
    options.picture_folder = folder.path().string();
    options.window = {.title = "clip", .size = {640, 480}, .fixed = true, .vsync = false};
  }
  auto notice() {
    return [this](const std::string& text) { notices.push_back(text); };
  }
  PlayedFrame noisy_frame(std::uint64_t sequence) const {
    PlayedFrame frame;
    frame.noisy = frame.denoised = oracle::add_noise(oracle::draw_picture(options.format), 10, sequence);
    frame.sequence = sequence;
    return frame;
  }
};

TEST_F(WindowPart, NoiseIsMeasuredInTheProposedArea) {
  options.format = oracle::yuv(256, 192, 1, 1);
  NoiseArea area(options, engine, {256, 192});
  area.leave(noisy_frame(1));
  const PlayedFrame shown = noisy_frame(2);
  ASSERT_TRUE(area.propose(shown, {0, 0, 256, 192}));
  const NoiseArea::Measured measured = area.measure(shown);
  ASSERT_TRUE(measured.noise) << measured.text;
  EXPECT_NEAR(measured.noise->noise.sigma[0], 10, 4);
  NoiseSettings settings;
  settings.noise = measured.noise;
  EXPECT_TRUE(area.is_source_of(settings));
  area.suit(settings);
  EXPECT_TRUE(area.box());
  area.suit({});
  EXPECT_FALSE(area.box()) << "other settings";
}

TEST_F(WindowPart, ASmallAreaIsRefused) {
  NoiseArea area(options, engine, {64, 48});
  area.mark({3, 3, 2, 2});
  EXPECT_TRUE(area.is_marked_now());
  const NoiseArea::Measured measured = area.measure(noisy_frame(1));
  EXPECT_FALSE(measured.noise);
  EXPECT_EQ(measured.text.find("2x2 marked"), 0U) << measured.text;
}

io::WindowEvent pointer_event(io::WindowEvent::Kind kind, double x, double y) {
  io::WindowEvent event;
  event.kind = kind;
  event.x = x;
  event.y = y;
  event.clicks = 1;
  return event;
}

TEST_F(WindowPart, ThePointerPausesZoomsAndMarks) {
  using Kind = io::WindowEvent::Kind;
  PlayerScreen screen(options);
  NoiseArea area(options, engine, {64, 48});
  ViewState state;
  PictureMouse mouse(screen, area, state);
  mouse.handle(pointer_event(Kind::kPress, 100, 100));
  EXPECT_TRUE(mouse.holds_picture());
  EXPECT_EQ(mouse.release(pointer_event(Kind::kRelease, 100, 100), false), "") << "there is no frame";
  io::WindowEvent press = pointer_event(Kind::kPress, 100, 100);
  mouse.handle(press);
  EXPECT_EQ(mouse.release(pointer_event(Kind::kRelease, 100, 100), true), "toggle pause");
  press.clicks = 2;
  EXPECT_EQ(mouse.handle(press), "toggle full-screen");
  mouse.release(pointer_event(Kind::kRelease, 100, 100), true);
  io::WindowEvent wheel = pointer_event(Kind::kWheel, 10, 20);
  wheel.dy = 1;
  EXPECT_EQ(mouse.handle(wheel), "wheel in");
  EXPECT_EQ(mouse.zoom_point().y, 20);
  mouse.handle(pointer_event(Kind::kPointer, 1e4, 10));
  EXPECT_EQ(mouse.zoom_point().x, 320) << "the middle, as the pointer is not on the picture";
  io::WindowEvent right = pointer_event(Kind::kPress, 100, 100);
  right.right = true;
  mouse.handle(right);
  right.kind = Kind::kDrag;
  right.dx = right.dy = 200;
  right.x = right.y = 300;
  mouse.handle(right);
  EXPECT_TRUE(area.is_marked_now());
  right.kind = Kind::kRelease;
  EXPECT_EQ(mouse.release(right, true), "measure-noise");
  EXPECT_EQ(area.box()->box(), (io::Rectangle{10, 10, 20, 20}));
}

TEST_F(WindowPart, PixelsAreShownAsStored) {
  PixelValues values(options, engine);
  const PlayedFrame shown = noisy_frame(1);
  const auto sample = [&](int plane, int x, int y) {
    return std::to_string(shown.noisy.planes[static_cast<std::size_t>(plane)].row<std::uint8_t>(y)[x]);
  };
  const std::string text = values.text(shown, {5.7, 9.2});
  EXPECT_TRUE(text.starts_with("x 5, y 9:  noisy Y " + sample(0, 5, 9) + " U " + sample(1, 2, 4) + " V "))
      << text;
  EXPECT_NE(text.find("   denoised Y "), std::string::npos) << text;
  EXPECT_EQ(values.text(shown, {-0.5, 9}), "");
  EXPECT_EQ(values.text(shown, {5, 1e6}), "");
}

TEST_F(WindowPart, AFileIsRefusedWithTheReason) {
  FileInput input(options, notice());
  EXPECT_FALSE(input.choose("a.mkv", false));
  EXPECT_EQ(notices.back(), "this window shows a camera; limpid preview shows files");
  options.refuse_file = [](const std::string& path) { return path == "bad.mkv" ? "it is damaged" : ""; };
  EXPECT_FALSE(input.choose("bad.mkv", false));
  EXPECT_EQ(notices.back(), "it is damaged");
  EXPECT_FALSE(input.choose("a.mkv", true)) << "a file is being written";
  EXPECT_TRUE(input.choose("a.mkv", false));
  EXPECT_EQ(input.next(), "a.mkv");
  EXPECT_FALSE(input.read_settings_of((folder.path() / "none.json").string(), {}));
}

TEST_F(WindowPart, PicturesAreWrittenUnlessTheFolderIsMissing) {
  FileOutput output(options, engine, notice());
  PlayedFrame frame = noisy_frame(1);
  frame.is_waiting = true;
  output.save_pictures(frame, 32, true);
  EXPECT_EQ(notices.back(), "the frame is not denoised yet");
  frame.is_waiting = false;
  output.save_pictures(frame, 32, true);
  EXPECT_EQ(notices.back(),
            "pictures: " + (folder.path() / "clip-000000-noisy.png, -denoised.png, -split.png").string());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "clip-000000-split.png"));
  options.picture_folder.clear();
  options.input = (folder.path() / "films" / "clip.mkv").string();
  std::filesystem::create_directory(folder.path() / "films");
  output.save_pictures(frame, 32, true);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "films" / "clip-000000-split.png"))
      << "beside the input";
  options.input.clear();
  options.picture_folder = folder.path().string();
  options.command = [](const PlayerSettings&, const Passage&) { return std::vector<std::string>{"limpid"}; };
  options.input = "/films/clip.mkv";
  EXPECT_EQ(output.command_line({}, {}), "limpid --encoding high -o /films/clip-denoised.mkv");
  output.set_encoding(Encoding::kLossless);
  EXPECT_EQ(notices.back(), "lossless is possible in .mkv, .mov and .avi");
  options.encoders = {"libx264", "libx264", "ffv1"};
  options.frame_count = 100;
  options.duration = 4;
  EXPECT_TRUE(output.description({}).starts_with("H.264, ~")) << output.description({});
  EXPECT_NE(output.description({}), output.description({1, 2})) << "of the passage";
  output.set_encoding(Encoding::kLossless);
  EXPECT_TRUE(output.description({}).starts_with("FFV1, ~")) << output.description({});
  EXPECT_EQ(output.command_line({}, {}), "limpid --encoding lossless -o /films/clip-denoised.mkv");
  options.lossless = true;
  EXPECT_EQ(FileOutput(options, nullptr, {}).encoding(), Encoding::kLossless) << "of a lossless source";
  options.command = nullptr;
  options.input.clear();
  output.start({}, {});
  EXPECT_EQ(notices.back(), "this source cannot be written to a file");
  EXPECT_FALSE(output.is_writing());
  options.picture_folder += "/missing";
  output.save_pictures(frame, 32, true);
  EXPECT_NE(notices.back().find("missing"), std::string::npos) << notices.back();
}

}  // namespace
}  // namespace limpid::app
