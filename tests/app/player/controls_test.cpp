// SPDX-License-Identifier: MIT
// Every control by the pointer and every key, in a window without a screen.
#include "app/player/controls.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/player/background_write.h"
#include "tests/app/player/viewer_script.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

struct Place {
  int x = -1;
  int y = -1;
};

void push_motion(Place to, Uint32 buttons) {
  SDL_Event event{};
  event.type = SDL_MOUSEMOTION;
  event.motion.x = to.x;
  event.motion.y = to.y;
  event.motion.state = buttons;
  SDL_PushEvent(&event);
}

void push_button(Place at, Uint32 type) {
  SDL_Event event{};
  event.type = type;
  event.button.button = SDL_BUTTON_LEFT;
  event.button.clicks = 1;
  event.button.x = at.x;
  event.button.y = at.y;
  SDL_PushEvent(&event);
}

/// A window with all its controls, and somebody with a mouse.
class ControlsScript : public ViewerScript {
 public:
  ControlsScript() {
    frames = 1000;
    options.duration = player_options.duration = frames / kRate;
    options.keep_open = true;
    options.controls = true;
    options.window.size = {1280, 900};
    options.filters = {"bilateral", "bm3d"};
    options.input = "clip.mkv";
    options.command = [](const DenoiseSettings& settings, const Passage& passage) {
      std::vector<std::string> words{"limpid", "denoise", "clip.mkv", "--filter", settings.filter};
      if (passage.begin) {
        words.emplace_back("--start");
      }
      return words;
    };
    player_options.settings.filter = "bilateral";
  }

  /// Where a control is; waits until it rests there, as ImGui places new windows in their second frame.
  static Place find(const DebugLog& log, const std::string& name) {
    Place place;
    EXPECT_TRUE(log.says("control: " + name + " at ")) << name;
    for (Place before{-2, -2}; before.x != place.x || before.y != place.y;) {
      before = place;
      std::this_thread::sleep_for(300ms);
      place = last_place(log, "control: " + name + " at ");
    }
    return place;
  }
  static Place last_place(const DebugLog& log, const std::string& beginning) {
    Place place;
    for (const std::string& line : log.lines()) {
      if (line.starts_with(beginning)) {
        std::sscanf(line.c_str() + beginning.size(), "%d,%d", &place.x, &place.y);
      }
    }
    return place;
  }
  static void click(const DebugLog& log, const std::string& name) {
    const Place place = find(log, name);
    push_motion(place, 0);
    push_button(place, SDL_MOUSEBUTTONDOWN);
    push_button(place, SDL_MOUSEBUTTONUP);
  }
  static void drag(Place from, Place to) {
    push_motion(from, 0);
    push_button(from, SDL_MOUSEBUTTONDOWN);
    push_motion(to, SDL_BUTTON_LMASK);
    push_button(to, SDL_MOUSEBUTTONUP);
  }
};

using Said = std::pair<std::string, std::string>;

TEST(ControlsTest, EveryControlDoesItsWork) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    for (const auto& [name, said] : {Said{"play", "key: paused"},
                                     {"step forward", "frame: "},
                                     {"step back", "frame: "},
                                     {"luma", "key: bilateral, strength 1.00"},
                                     {"chroma", "key: bilateral, strength 1.00"},
                                     {"all planes", "key: bilateral, strength 1.00"},
                                     {"noise of the clip", "key: noise estimated"},
                                     {"noise level", "key: sigma Y"},
                                     {"linked", "key: levels of luma and chroma separate"},
                                     {"noise of a region", "are needed to measure noise"},
                                     {"automatic", "key: quality: automatic"},
                                     {"noisy", "key: view: noisy"},
                                     {"denoised", "key: view: denoised"},
                                     {"side by side", "key: view: side by side"},
                                     {"difference", "key: view: difference"},
                                     {"split", "key: view: split"},
                                     {"zoom 2:1", "key: zoom: 2:1"},
                                     {"zoom Fit", "key: zoom: fit"},
                                     {"settings B", "key: settings B"},
                                     {"copy settings", "key: settings copied to A"},
                                     {"in", "key: passage 0:"},
                                     {"out", "key: passage 0:"},
                                     {"whole file", "key: the whole file"},
                                     {"copy command", "key: copied: limpid denoise clip.mkv"},
                                     {"help", "key: keys"},
                                     {"settings", "key: controls hide"}}) {
      const int before = log.count(said);
      ControlsScript::click(log, name);
      EXPECT_TRUE(log.says(said, before + 1)) << name;
    }
    ControlsScript::click(log, "full screen");
    EXPECT_TRUE(log.says("control: play at ", 2)) << "the size of the window has changed";
  });
}

TEST(ControlsTest, SlidersAndListsChangeSettings) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    const Place strength = ControlsScript::find(log, "strength");
    ControlsScript::drag(strength, {strength.x + 30, strength.y});
    EXPECT_TRUE(log.says("key: bilateral, strength 2."));
    ControlsScript::click(log, "filter");
    ControlsScript::click(log, "filter bm3d");
    EXPECT_TRUE(log.says("key: bm3d:profile=np, strength 2."));
    ControlsScript::click(log, "profile");
    ControlsScript::click(log, "profile fast");
    EXPECT_TRUE(log.says("key: bm3d:profile=fast, strength 2."));
    ControlsScript::click(log, "speed");
    ControlsScript::click(log, "speed 0.25");
    EXPECT_TRUE(log.says("key: speed x0.25"));
    press("0");
    ControlsScript::drag(ControlsScript::find(log, "gain"), {1250, ControlsScript::find(log, "gain").y});
    EXPECT_TRUE(log.says("key: gain of the difference x"));
    const Place line = ControlsScript::find(log, "time line");
    push_motion({1279, 899}, 0);  // the corner of the window is on it
    push_button({1279, 899}, SDL_MOUSEBUTTONDOWN);
    push_button({1279, 899}, SDL_MOUSEBUTTONUP);
    EXPECT_TRUE(log.says("key: 0:09")) << line.y;
  });
}

TEST(ControlsTest, EveryKeyDoesItsWork) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    for (const auto& [key, said] : {Said{"TAB", "key: controls hide"},
                                    {" ", "key: paused"},
                                    {"UP", "key: strength 1.10"},
                                    {"DOWN", "key: strength 1.00"},
                                    {"+", "key: sigma Y 6.0 U 6.0 V 6.0"},
                                    {"k", "key: levels of luma and chroma separate"},
                                    {")", "key: sigma Y 6.0 U 7.0 V 7.0"},
                                    {"(", "key: sigma Y 6.0 U 6.0 V 6.0"},
                                    {"P", "key: planes: luma"},
                                    {"a", "key: noise estimated"},
                                    {"v", "key: sigma Y"},
                                    {"n", "are needed to measure noise"},
                                    {"m", "key: filter bm3d"},
                                    {"c", "key: profile"},
                                    {"C", "key: profile"},
                                    {"M", "key: filter bilateral"},
                                    {"Q", "key: quality: automatic"},
                                    {"B", "key: settings copied to B"},
                                    {"b", "key: settings B: bilateral"},
                                    {"4", "key: view: side by side"},
                                    {"g", "key: gain of the difference x8"},
                                    {"G", "key: gain of the difference x4"},
                                    {"/", "key: no audio"},
                                    {"*", "key: no audio"},
                                    {"I", "key: passage 0:"},
                                    {"O", "key: passage 0:"},
                                    {"X", "key: the whole file"},
                                    {"Ctrl+C", "key: copied: limpid denoise"},
                                    {"[", "key: speed x0.91"},
                                    {"BACKSPACE", "key: speed x1.00"}}) {
      const int before = log.count(said);
      press(key);
      EXPECT_TRUE(log.says(said, before + 1)) << key;
    }
  });
}

TEST(ControlsTest, AClickPausesADoubleClickFillsTheScreenAndTheRestHidesTheControls) {
  ControlsScript script;
  script.options.controls = false;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    const Place picture{300, 300};
    push_motion(picture, 0);
    EXPECT_TRUE(log.says("control: play at ")) << "the pointer has moved";
    push_button(picture, SDL_MOUSEBUTTONDOWN);
    push_button(picture, SDL_MOUSEBUTTONUP);
    EXPECT_TRUE(log.says("key: paused"));
    ControlsScript::drag(picture, {picture.x + 90, picture.y});
    EXPECT_EQ(log.count("key: playing"), 0) << "the line has been moved";
  });
}

TEST(ControlsTest, SmallWindowsShowThePanelOnRequest) {
  ControlsScript script;
  script.options.controls = false;
  script.options.window.size = {640, 360};
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    push_motion({300, 100}, 0);
    ControlsScript::find(log, "play");
    EXPECT_EQ(log.count("control: strength"), 0);
    ControlsScript::click(log, "settings");
    EXPECT_TRUE(log.says("control: strength at "));
  });
}

TEST(BackgroundWriteTest, ReportsProgressAndTheEnd) {
  const test::TemporaryFolder folder;
  BackgroundWrite writing({"/bin/sh", "-c", "echo '{\"percent\":40.0}' >&2; echo 'no space' >&2; exit 3"});
  std::optional<int> code;
  while (!(code = writing.poll())) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(code, 3);
  EXPECT_EQ(writing.progress(), 0.4);
  EXPECT_EQ(writing.message(), "no space");
  EXPECT_THROW(BackgroundWrite({"/absent/program"}), Error);
}

TEST(BackgroundWriteTest, IsInterruptedAndWaitedFor) {
  BackgroundWrite writing({"/bin/sleep", "60"});
  writing.cancel();
  while (!writing.poll()) {
    std::this_thread::sleep_for(1ms);
  }
  const BackgroundWrite left({"/bin/sleep", "60"});
}

TEST(ShellLineTest, IsReadBackByAShell) {
  const std::vector<std::string> words{"a b",    "it's",           "",      "$HOME",
                                       "-x=1,2", "Müritz – 1.mkv", "\"q\"", "back\\slash"};
  const std::string command = "for word in " + shell_line(words) + "; do printf '%s\\n' \"$word\"; done";
  FILE* const shell = popen(command.c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string printed;
  for (int c = 0; (c = std::fgetc(shell)) != EOF;) {
    printed += static_cast<char>(c);
  }
  pclose(shell);
  std::string expected;
  for (const std::string& word : words) {
    expected += word + "\n";
  }
  EXPECT_EQ(printed, expected);
  EXPECT_EQ(shell_line({"limpid", "denoise", "in.mkv"}), "limpid denoise in.mkv");
}

TEST(FreeOutputTest, IsBesideTheInputAndNeverAFileThatExists) {
  const test::TemporaryFolder folder;
  const std::string input = (folder.path() / "clip.mkv").string();
  EXPECT_EQ(free_output(input), (folder.path() / "clip-denoised.mkv").string());
  std::ofstream(folder.path() / "clip-denoised.mkv") << "x";
  EXPECT_EQ(free_output(input), (folder.path() / "clip-denoised-2.mkv").string());
  EXPECT_EQ(free_output("raw.264"), "raw-denoised.mkv");
  EXPECT_EQ(free_output("%03d.png"), "%03d-denoised.mkv");
}

}  // namespace
}  // namespace limpid::app
