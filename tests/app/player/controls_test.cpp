// SPDX-License-Identifier: MIT
// Every control by the pointer and every key, in a window without a screen.
#include "app/player/controls.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/console/shell_text.h"
#include "app/player/background_write.h"
#include "app/player/noise_box.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/noise_profile.h"
#include "tests/app/player/viewer_script.h"
#include "tests/io/media/media.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

struct Place {
  int x = -1;
  int y = -1;
};

/// `mouse`: SDL's number of the mouse; `by`: how far it has moved.
void push_motion(Place to, Uint32 buttons, Uint32 mouse = 0, Place by = {0, 0}) {
  SDL_Event event{};
  event.type = SDL_MOUSEMOTION;
  event.motion.which = mouse;
  event.motion.x = to.x;
  event.motion.y = to.y;
  event.motion.xrel = by.x;
  event.motion.yrel = by.y;
  event.motion.state = buttons;
  SDL_PushEvent(&event);
}

void push_button(Place at, Uint32 type, Uint8 clicks = 1, Uint32 mouse = 0) {
  SDL_Event event{};
  event.type = type;
  event.button.which = mouse;
  event.button.button = SDL_BUTTON_LEFT;
  event.button.clicks = clicks;
  event.button.x = at.x;
  event.button.y = at.y;
  SDL_PushEvent(&event);
}

/// Pushes the events that SDL makes of a finger: those of a second mouse, which moves before it presses.
void push_finger(Place from, Place to) {
  push_motion(from, 0, SDL_TOUCH_MOUSEID);
  push_button(from, SDL_MOUSEBUTTONDOWN, 1, SDL_TOUCH_MOUSEID);
  if (from.x != to.x || from.y != to.y) {
    push_motion(to, SDL_BUTTON_LMASK, SDL_TOUCH_MOUSEID, {to.x - from.x, to.y - from.y});
  }
  push_button(to, SDL_MOUSEBUTTONUP, 1, SDL_TOUCH_MOUSEID);
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
    options.command = [](const PlayerSettings& settings, const Passage& passage) {
      std::vector<std::string> words{"limpid", "denoise", "clip.mkv", "--filter", settings.filter.name};
      if (passage.begin) {
        words.emplace_back("--start");
      }
      return words;
    };
    player_options.settings.filter.name = "bilateral";
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

TEST(ControlsTest, ThePassageHasHandlesOnTheTimeLine) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    const Place begin = ControlsScript::find(log, "passage begin");
    ControlsScript::drag(begin, {begin.x + 256, begin.y});
    EXPECT_TRUE(log.says("key: passage 0:02.0"));
    const Place end = ControlsScript::find(log, "passage end");
    ControlsScript::drag(end, {end.x - 256, end.y});
    EXPECT_TRUE(log.says(" to 0:07.9"));
    const Place moved = ControlsScript::find(log, "passage end");
    ControlsScript::drag(moved, {0, moved.y});
    EXPECT_TRUE(log.says("key: passage", 3));
    EXPECT_NEAR(ControlsScript::find(log, "passage end").x, ControlsScript::find(log, "passage begin").x, 30)
        << "the end stays behind the begin";
    ControlsScript::click(log, "loop");
    EXPECT_TRUE(log.says("key: loop from 0:02"));
    ControlsScript::click(log, "loop");
    EXPECT_TRUE(log.says("key: no loop"));
  });
}

using Said = std::pair<std::string, std::string>;

TEST(ControlsTest, EveryControlDoesItsWork) {
  ControlsScript script;
  script.options.filters = {"bilateral", "bm3d", "vbm4d", "recursive"};
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    for (const auto& [name, said] : {Said{"play", "key: paused"},
                                     {"step forward", "frame: "},
                                     {"step back", "frame: "},
                                     {"noise of the clip", "key: noise estimated"},
                                     {"noise level", "key: sigma Y"},
                                     {"linked", "key: luma and chroma separate"},
                                     {"noise of a region", "are needed to measure noise"},
                                     {"noise profile", "key: files"},
                                     {"cancel files", "key: files closed"},
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
                                     {"pair", "key: view: settings A and B"},
                                     {"split", "key: view: split"},
                                     {"strength Strong", "key: bilateral, strength 1.4"},
                                     {"quality Fast", "key: vbm4d fast, strength 1.4"},
                                     {"undo", "key: undo: bilateral, strength 1.4"},
                                     {"redo", "key: redo: vbm4d"},
                                     {"output", "control: in at "},
                                     {"in", "key: passage 0:"},
                                     {"out", "key: passage 0:"},
                                     {"whole file", "key: the whole file"},
                                     {"save noise", "key: measure the noise in a box first"},
                                     {"adjust", "control: strength at "},
                                     {"copy command", "key: copied: limpid denoise clip.mkv"},
                                     {"help", "key: keys"},
                                     {"settings", "key: settings closed"}}) {
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
    ControlsScript::click(log, "all filters");
    ControlsScript::click(log, "filter");
    ControlsScript::click(log, "filter bm3d");
    EXPECT_TRUE(log.says("key: bm3d np, strength 2."));
    ControlsScript::click(log, "profile");
    ControlsScript::click(log, "profile fast");
    EXPECT_TRUE(log.says("key: bm3d fast, strength 2."));
    ControlsScript::click(log, "speed");
    ControlsScript::click(log, "speed 0.25");
    EXPECT_TRUE(log.says("key: speed x0.25"));
    press("6");
    ControlsScript::drag(ControlsScript::find(log, "gain"), {1250, ControlsScript::find(log, "gain").y});
    EXPECT_TRUE(log.says("key: gain of the difference x"));
    const Place line = ControlsScript::find(log, "time line");
    push_motion({1279, 899}, 0);  // the corner of the window is on it
    push_button({1279, 899}, SDL_MOUSEBUTTONDOWN);
    push_button({1279, 899}, SDL_MOUSEBUTTONUP);
    EXPECT_TRUE(log.says("key: 0:09")) << line.y;
  });
}

TEST(ControlsTest, AMicrophoneIsChosenAndHasALevel) {
  ControlsScript script;
  script.player_options.live = true;
  script.options.sound_level = [] { return 0.1F; };
  script.options.microphones = {{"default", "Default"}, {"hw:1", "Headset"}};
  script.options.microphone = "default";
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::click(log, "output");
    ControlsScript::find(log, "level");
    ControlsScript::click(log, "microphone");
    ControlsScript::click(log, "microphone hw:1");
    EXPECT_TRUE(log.says("key: microphone: hw:1"));
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(viewer.next_camera());
    EXPECT_EQ(viewer.next_camera()->microphone, "hw:1");
    EXPECT_TRUE(viewer.next_camera()->node.empty()) << "the same camera";
  });
}

TEST(ControlsTest, AnotherCameraIsChosenWhileOneIsGone) {
  ControlsScript script;
  script.player_options.live = true;
  script.options.camera = "/dev/video0";
  std::atomic<bool> is_gone = false;
  script.options.trouble = [&] { return is_gone ? "/dev/video0 is gone: waiting for it" : ""; };
  script.options.find_cameras = [] {
    CameraChoice other;
    other.name = "Other";
    other.node = "/dev/video2";
    return std::vector{other};
  };
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press("V");
    EXPECT_TRUE(log.says("key: no other camera"));
    is_gone = true;
    EXPECT_TRUE(log.says("hint: /dev/video0 is gone: waiting for it    V: Other"));
    press("V");
    EXPECT_TRUE(log.says("key: camera: Other"));
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(viewer.next_camera());
    EXPECT_EQ(viewer.next_camera()->node, "/dev/video2");
  });
}

TEST(ControlsTest, EveryKeyDoesItsWork) {
  ControlsScript script;
  script.options.chapters = {{0, ""}, {5, "End"}};
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    for (const auto& [key, said] : {Said{"TAB", "key: settings closed"},
                                    {" ", "key: paused"},
                                    {"Shift+UP", "key: strength 1.1"},
                                    {"Shift+DOWN", "key: strength 1"},
                                    {"UP", "key: 0:10"},
                                    {"DOWN", "key: 0:00"},
                                    {"Shift+RIGHT", "key: 0:01"},
                                    {"Shift+LEFT", "key: 0:00"},
                                    {"PGUP", "key: chapter 2 of 2: End"},
                                    {"PGUP", "key: the last chapter"},
                                    {"PGDN", "key: chapter 1 of 2"},
                                    {"Ctrl+Z", "key: undo: bilateral, strength 1.1"},
                                    {"Ctrl+Y", "key: redo: bilateral, strength 1"},
                                    {"d", "key: 5 % of the original in the result"},
                                    {"D", "key: 0 % of the original in the result"},
                                    {"+", "key: sigma Y 6.0 U 6.0 V 6.0"},
                                    {"k", "key: luma and chroma separate"},
                                    {"Ctrl+UP", "key: strength 1,1.1"},
                                    {"Ctrl+DOWN", "key: strength 1"},
                                    {"5", "key: there are no settings B"},
                                    {")", "key: sigma Y 6.0 U 7.0 V 7.0"},
                                    {"(", "key: sigma Y 6.0 U 6.0 V 6.0"},
                                    {"a", "key: noise estimated"},
                                    {"v", "key: sigma Y"},
                                    {"n", "are needed to measure noise"},
                                    {"e", "key: filter bm3d"},
                                    {"c", "key: profile"},
                                    {"C", "key: profile"},
                                    {"E", "key: filter bilateral"},
                                    {"Q", "key: quality: automatic"},
                                    {"B", "key: settings copied to B"},
                                    {"b", "key: settings B: bilateral"},
                                    {"5", "key: view: settings A and B"},
                                    {"3", "key: view: split"},
                                    {"Ctrl+N", "key: measure the noise in a box first"},
                                    {"4", "key: view: side by side"},
                                    {"g", "key: gain of the difference x8"},
                                    {"G", "key: gain of the difference x4"},
                                    {"x", "key: denoised on the left"},
                                    {"x", "key: denoised on the right"},
                                    {"h", "key: mirrored"},
                                    {"h", "key: not mirrored"},
                                    {"P", "key: pixel values"},
                                    {"P", "key: no pixel values"},
                                    {"9", "key: no audio"},
                                    {"0", "key: no audio"},
                                    {"m", "key: no audio"},
                                    {"/", "key: no audio"},
                                    {"*", "key: no audio"},
                                    {"I", "key: passage 0:"},
                                    {"O", "key: passage 0:"},
                                    {"X", "key: the whole file"},
                                    {"Ctrl+C", "key: copied: limpid denoise"},
                                    {"z", "key: zoom: "},
                                    {"Z", "key: zoom: fit"},
                                    {"W", "key: no file is being written"},
                                    {"[", "key: speed x0.91"},
                                    {"BACKSPACE", "key: speed x1.00"},
                                    {"{", "key: speed x0.50"},
                                    {"}", "key: speed x1.00"}}) {
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

// The first click of a double click chose the file in the window of the file before.
TEST(ControlsTest, TheRestOfADoubleClickDoesNothing) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::find(log, "play");
    const int placed = log.count("control: play at ");
    push_button({300, 300}, SDL_MOUSEBUTTONDOWN, 2);
    push_button({300, 300}, SDL_MOUSEBUTTONUP);
    press("i");
    EXPECT_TRUE(log.says("key: statistics"));
    EXPECT_EQ(log.count("key: paused"), 0);
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(log.count("control: play at "), placed) << "the size of the window has not changed";
  });
}

TEST(ControlsTest, AFingerDoesWhatAMouseDoes) {
  ControlsScript script;
  script.options.controls = false;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    const Place picture{300, 300};
    push_finger(picture, picture);
    EXPECT_TRUE(log.says("key: paused"));
    const Place play = ControlsScript::find(log, "play");
    push_finger(play, play);
    EXPECT_TRUE(log.says("key: playing"));
    push_finger(picture, {picture.x + 90, picture.y});
    press("TAB");
    const Place strength = ControlsScript::find(log, "strength");
    push_finger(strength, {strength.x + 30, strength.y});
    EXPECT_TRUE(log.says("key: bilateral, strength 2."));
    EXPECT_EQ(log.count("key: paused"), 1) << "the line has been moved";
  });
}

TEST(ControlsTest, SmallWindowsHaveASecondRowInsteadOfThePanel) {
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
    EXPECT_TRUE(log.says("control: write at "));
    ControlsScript::click(log, "strength Light");
    EXPECT_TRUE(log.says("key: bilateral, strength 0.7"));
    EXPECT_EQ(log.count("control: adjust"), 0);
    EXPECT_GT(ControlsScript::find(log, "strength").y, 360 - 88);
  });
}

class NarrowWindow : public testing::TestWithParam<int> {};

TEST_P(NarrowWindow, KeepsAllButtons) {
  ControlsScript script;
  script.options.window.size = {GetParam(), 970};
  script.options.refuse_file = [](const std::string&) { return std::string(); };
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    std::map<std::pair<int, int>, std::string> places;
    for (const char* const name :
         {"play", "step back", "step forward", "speed", "open", "settings", "help", "full screen", "strength",
          "strength Light", "strength Medium", "strength Strong", "write"}) {
      const Place place = ControlsScript::find(log, name);
      EXPECT_TRUE(place.x > 0 && place.x < GetParam() - 10) << name << " at " << place.x;
      EXPECT_TRUE(place.y > 970 - 160) << name << " at " << place.y;
      EXPECT_EQ(places.emplace(std::pair(place.x, place.y), name).first->second, name);
    }
    ControlsScript::click(log, "strength Strong");
    EXPECT_TRUE(log.says("strength 1.4"));
  });
}

INSTANTIATE_TEST_SUITE_P(Widths, NarrowWindow, testing::Values(360, 546));

TEST(BarTest, NarrowWindowsHaveTheVolume) {
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::GetIO().Fonts->AddFontDefault();
  ImGui::GetIO().Fonts->Build();
  ControlState state;
  state.duration = 9;
  state.can_seek = state.can_open = true;
  state.volume = 0.5;
  state.settings.filter.name = "bm3d";
  for (const int width : {360, 546, 640, 1280}) {
    const DebugLog log;
    const io::Size window{width, 970};
    ImGui::GetIO().DisplaySize = {static_cast<float>(width), 970};
    Controls controls(true);
    controls.toggle_panel();
    ImGui::NewFrame();
    controls.draw(state, window, 1, Controls::Clock::now());
    controls.end();
    ImGui::EndFrame();
    for (const char* const name : {"mute", "volume"}) {
      EXPECT_EQ(log.count(std::string("control: ") + name + " at "), 1) << name << " in " << width;
    }
  }
  ImGui::DestroyContext();
}

TEST(ControlsTest, AnOpenListGetsTheKeysAndEscNeverQuits) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::click(log, "all filters");
    ControlsScript::click(log, "filter");
    ControlsScript::find(log, "filter bm3d");
    press("DOWN");
    press("ENTER");
    EXPECT_TRUE(log.says("key: bm3d np, strength 1"));
    EXPECT_EQ(log.count("key: strength"), 0);
    ControlsScript::click(log, "filter");
    EXPECT_TRUE(log.says("control: filter bm3d at ", 2));
    press("ESC");
    press("i");
    EXPECT_TRUE(log.says("key: statistics")) << "the list is closed";
    press("?");
    press("ESC");  // closes the help
    for (int i = 0; i < 3; ++i) {
      press("ESC");
    }
    press("?");
    EXPECT_TRUE(log.says("key: keys", 2)) << "the help was closed, and the window was not";
  });
}

TEST(ControlsTest, AHeldKeyRepeatsStepsAndNotSwitches) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    hold(SDLK_SPACE, " ", 30);
    hold(SDLK_TAB, nullptr, 30);
    hold(SDLK_KP_PLUS, "+", 3);
    EXPECT_TRUE(log.says("key: sigma Y 8.0"));
    EXPECT_EQ(log.count("key: paused"), 1);
    EXPECT_EQ(log.count("key: playing"), 0);
    EXPECT_EQ(log.count("key: settings closed"), 1);
    EXPECT_EQ(log.count("key: settings open"), 0);
  });
}

void type_into(const DebugLog& log, const std::string& field, const std::vector<std::string>& keys) {
  ControlsScript::click(log, field);
  for (const std::string& key : keys) {
    press(key);
  }
}

TEST(ControlsTest, ValuesAreTypedResetAndUndone) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    type_into(log, "strength value", {"1", ",", "7", "ENTER"});
    EXPECT_TRUE(log.says("key: bilateral, strength 1.7"));
    type_into(log, "mix value", {"2", "5", "ENTER"});
    EXPECT_TRUE(log.says("strength 1.7, 25 % of the original"));
    type_into(log, "strength value", {"3", "ESC"});
    press("i");
    EXPECT_TRUE(log.says("key: statistics")) << "the field is left";
    EXPECT_EQ(log.count("key: view"), 0) << "digits are no keys in a field";
    EXPECT_EQ(log.count("strength 3"), 0) << "ESC discards the text";
    const Place strength = ControlsScript::find(log, "strength");
    for (const Uint8 clicks : {Uint8{1}, Uint8{2}}) {
      push_motion(strength, 0);
      push_button(strength, SDL_MOUSEBUTTONDOWN, clicks);
      push_button(strength, SDL_MOUSEBUTTONUP, clicks);
    }
    EXPECT_TRUE(log.says("key: bilateral, strength 1, 25 % of the original"));
    press("Ctrl+Z");
    EXPECT_TRUE(log.says("key: undo: bilateral, strength 1.7, 25 %")) << "a double click is one step";
    press("Ctrl+Y");
    EXPECT_TRUE(log.says("key: redo: bilateral, strength 1, 25 %"));
  });
}

TEST(ControlsTest, EverySettingIsUndoneAndRedone) {
  ControlsScript script;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press(" ");
    const PlayerSettings first = viewer.chosen();
    const std::vector<const char*> keys{"Shift+UP", "k", "Ctrl+UP", "d", "+", ")", "a", "v", "e", "c", "Q"};
    for (const char* const key : keys) {
      press(key);
    }
    EXPECT_TRUE(log.says("key: quality: automatic"));
    const PlayerSettings last = viewer.chosen();
    const int steps = static_cast<int>(keys.size()) - 1;  // linking is no setting of the denoiser
    for (const auto& [key, said, none, settings] :
         {std::tuple{"Ctrl+Z", "key: undo: ", "key: nothing to undo", first},
          {"Ctrl+Y", "key: redo: ", "key: nothing to redo", last}}) {
      for (int i = 0; i <= steps; ++i) {
        press(key);
      }
      EXPECT_TRUE(log.says(none)) << key;
      EXPECT_EQ(log.count(said), steps);
      EXPECT_EQ(viewer.chosen(), settings) << key;
    }
  });
}

TEST(ControlsTest, TooltipsAppearAfterAWhileAndBesideTheControl) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.picture_folder = folder.path();
  script.options.overlay = false;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press(" ");
    press("S");
    EXPECT_TRUE(log.says("key: picture saved", 1));
    const Place place = ControlsScript::find(log, "step back");
    push_motion(place, 0);
    press("S");
    EXPECT_TRUE(log.says("key: picture saved", 2));
    std::this_thread::sleep_for(700ms);
    press("S");
    EXPECT_TRUE(log.says("key: picture saved", 3));
  });
  std::vector<Frame> windows;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    windows.push_back(io::read_clip(entry.path()).frames.at(0));
  }
  ASSERT_EQ(windows.size(), 3U);
  int with_tooltip = 0;
  for (const Frame& window : windows) {
    // A row of the panel's ground color above the bar: the picture is black there, or a tooltip.
    const auto* const row = window.planes[0].row<std::uint8_t>(900 - 54 - 14);
    with_tooltip += std::any_of(row, row + 120, [](std::uint8_t sample) { return sample > 15; }) ? 1 : 0;
  }
  EXPECT_EQ(with_tooltip, 1);
}

/// A window on noisy pictures in which noise can be measured, with files in a temporary folder.
class FilesScript : public ControlsScript {
 public:
  FilesScript() {
    const FrameFormat format = oracle::yuv(256, 192, 1, 1);
    picture = allocate_frame(format);
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < picture.planes[p].height; ++y) {
        std::fill_n(picture.planes[p].row<std::uint8_t>(y), picture.planes[p].width,
                    std::uint8_t(80 + y / 4));
      }
    }
    picture = oracle::add_noise(picture, 12, 3);
    options.format = format;
    options.input = (folder.path() / "clip.mkv").string();
    options.refuse_file = [](const std::string& path) {
      return path.ends_with("bad.mkv") ? path + ": is damaged" : std::string();
    };
  }

  static void drop(const std::string& path) {
    SDL_Event event{};
    event.type = SDL_DROPFILE;
    event.drop.file = SDL_strdup(path.c_str());
    SDL_PushEvent(&event);
  }
  std::string file(const std::string& name) const { return (folder.path() / name).string(); }

  test::TemporaryFolder folder;
};

TEST(FilesTest, SettingsAreSavedAndLoaded) {
  FilesScript script;
  script.player_options.settings.noise.strength = {1.5F, 0.5F};
  script.player_options.settings.noise.mix = 0.25F;
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::click(log, "output");
    ControlsScript::click(log, "save settings");
    EXPECT_TRUE(log.says("key: written: " + script.file("clip-settings.json")));
    const DenoisingSettings saved = read_settings(script.file("clip-settings.json"));
    EXPECT_EQ(saved.noise, script.player_options.settings.noise);
    EXPECT_EQ(to_string(saved.filter), "bilateral");
    press("Ctrl+S");
    EXPECT_TRUE(log.says("key: written: " + script.file("clip-settings-2.json"))) << "no file is replaced";

    std::ofstream(script.file("look.json"))
        << R"({"limpid_settings": 1, "filter": "bm3d:profile=fast:step=5"})";
    FilesScript::drop(script.file("look.json"));
    EXPECT_TRUE(log.says("key: settings of look.json"));
    press("Ctrl+S");
    EXPECT_TRUE(log.says("key: written: " + script.file("clip-settings-3.json")));
    EXPECT_EQ(to_string(read_settings(script.file("clip-settings-3.json")).filter),
              "bm3d:quality=fast:step=5");

    std::ofstream(script.file("wrong.json")) << "{}";
    FilesScript::drop(script.file("wrong.json"));
    EXPECT_TRUE(log.says("wrong.json' is not a settings file"));
    FilesScript::drop(script.file("bad.mkv"));
    EXPECT_TRUE(log.says("key: " + script.file("bad.mkv") + ": is damaged"));
  });
}

TEST(FilesTest, ADroppedVideoIsShownNext) {
  FilesScript script;
  Viewer viewer(script.options, script.stages, script.player_options);
  std::jthread user([&] {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    FilesScript::drop("/films/other.mkv");
  });
  viewer.run({});
  EXPECT_EQ(viewer.next_input(), "/films/other.mkv");
}

TEST(FilesTest, AFileIsChosenWithThePointerAndWithKeys) {
  FilesScript script;
  std::filesystem::create_directory(script.folder.path() / "looks");
  for (const char* const name : {"soft.json", "strong.json"}) {
    std::ofstream(script.folder.path() / "looks" / name) << R"({"limpid_settings": 1, "strength": 0.5})";
  }
  std::ofstream(script.file("notes.txt")) << "x";
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::click(log, "open");
    ControlsScript::click(log, "file looks");
    ControlsScript::click(log, "file strong.json");
    EXPECT_TRUE(log.says("key: settings of strong.json"));
    EXPECT_EQ(log.count("control: file notes.txt"), 0);
    press("N");
    EXPECT_TRUE(log.says("key: files", 2));
    for (const char* const key : {"BACKSPACE", "HOME", "l", "ENTER", "s", "ENTER"}) {
      press(key);
    }
    EXPECT_TRUE(log.says("key: settings of soft.json"));
    press("?");
    ControlsScript::click(log, "noise profile");
    EXPECT_TRUE(log.says("key: files", 3));
    ControlsScript::click(log, "cancel files");
    EXPECT_TRUE(log.says("key: files closed"));
    press("Ctrl+O");
    EXPECT_TRUE(log.says("key: files", 5));
    press("ESC");
    press("i");
    EXPECT_TRUE(log.says("key: statistics")) << "the list is closed, and the window is not";
    press("?");
    EXPECT_TRUE(log.says("key: keys", 2)) << "the list has closed the help";
  });
}

TEST(FilesTest, TheNoiseOfABoxIsMeasuredAgainWhereItIsMoved) {
  FilesScript script;
  script.options.controls = false;
  script.options.window.size = {1024, 768};  // 4:1
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press(" ");
    press("n");
    EXPECT_TRUE(log.says("key: noise measured in the box"));
    press("Ctrl+N");
    EXPECT_TRUE(log.says("key: written: " + script.file("clip-noise.json")));
    const NoiseProfile first = read_noise_profile(script.file("clip-noise.json"));
    EXPECT_NEAR(first.noise.sigma[0], 12, 3);
    // A box of 160x120 samples by the right button, then its left upper handle.
    SDL_Event event{};
    const auto button = [&](Place at, Uint32 type, Uint8 which) {
      event = {};
      event.type = type;
      event.button.button = which;
      event.button.clicks = 1;
      event.button.x = at.x;
      event.button.y = at.y;
      SDL_PushEvent(&event);
    };
    button({200, 200}, SDL_MOUSEBUTTONDOWN, SDL_BUTTON_RIGHT);
    for (const Place to : {Place{400, 400}, Place{600, 560}}) {
      event = {};
      event.type = SDL_MOUSEMOTION;
      event.motion.x = to.x;
      event.motion.y = to.y;
      event.motion.xrel = 200;
      event.motion.yrel = to.y == 400 ? 200 : 160;
      event.motion.state = SDL_BUTTON_RMASK;
      SDL_PushEvent(&event);
    }
    button({600, 560}, SDL_MOUSEBUTTONUP, SDL_BUTTON_RIGHT);
    EXPECT_TRUE(log.says("key: noise measured in the box", 2));
    EXPECT_TRUE(log.says("box: 100x90 at 50,50"));
    ControlsScript::drag({200, 200}, {100, 160});
    EXPECT_TRUE(log.says("key: noise measured in the box", 3));
    EXPECT_TRUE(log.says("box: 125x100 at 25,40"));
    press("a");
    EXPECT_TRUE(log.says("key: noise estimated from the clip"));
  });
}

TEST(FilesTest, BothSettingsAreShownOfAPausedPicture) {
  FilesScript script;
  script.stages.make_denoiser = [&script](const PlayerSettings& settings, const Frame& frame,
                                          const NoiseModel& level) {
    return script.stages.engine->make_denoiser(live_filter(settings), level, frame.format);
  };
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    for (const char* const key : {"B", "b", "Shift+UP", "Shift+UP", "Shift+UP"}) {
      press(key);
    }
    EXPECT_TRUE(log.says("key: strength 1.3"));
    press("5");
    EXPECT_TRUE(log.says("| B: computing") || log.says("A: computing |")) << "no result has another name";
    EXPECT_TRUE(log.says("pair: A and B of frame ")) << "both are denoised";
    EXPECT_TRUE(log.says("labels: A: bilateral, strength 1 | B: bilateral, strength 1.3"));
    press(".");
    EXPECT_TRUE(log.says("pair: A and B of frame ", 2)) << "and of the next frame";
    press("1");
    EXPECT_TRUE(log.says("key: view: noisy"));
  });
}

// Runs instead of `limpid denoise`: reports progress, and creates a file at the end or when interrupted.
std::string writing_program(const test::TemporaryFolder& folder, int hundredths = 300) {
  const std::filesystem::path path = folder.path() / "writer";
  std::ofstream(path) << "#!/bin/sh\ntrap 'echo partial > " << (folder.path() / "result").string()
                      << "; exit 130' INT\necho '{\"percent\":43.0}' >&2\n"
                      << "i=0; while [ $i -lt " << hundredths
                      << " ]; do sleep 0.01; i=$((i + 1)); done\necho whole > "
                      << (folder.path() / "result").string() << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

std::string result_of(const test::TemporaryFolder& folder) {
  for (int i = 0; i < 2000 && !std::filesystem::exists(folder.path() / "result"); ++i) {
    std::this_thread::sleep_for(5ms);
  }
  std::this_thread::sleep_for(20ms);
  std::ifstream file(folder.path() / "result");
  std::string word;
  file >> word;
  return word;
}

void push_close() {
  SDL_Event event{};
  event.type = SDL_WINDOWEVENT;
  event.window.event = SDL_WINDOWEVENT_CLOSE;
  SDL_PushEvent(&event);
}

TEST(ClosingTest, AsksWhileAFileIsWritten) {
  for (const auto& [key, result] : {Said{"ENTER", "whole"}, {"c", "partial"}}) {
    const test::TemporaryFolder folder;
    ControlsScript script;
    script.options.input = (folder.path() / "clip.mkv").string();
    script.options.program = writing_program(folder);
    const DebugLog log;
    Viewer viewer(script.options, script.stages, script.player_options);
    const std::jthread user([&, answer = key] {
      EXPECT_TRUE(ViewerScript::shows(viewer, 1));
      press("w");
      ControlsScript::find(log, "progress");
      press("w");
      EXPECT_TRUE(log.says("; W cancels it")) << "the key does not cancel";
      push_close();
      EXPECT_TRUE(log.says("question: quit"));
      press("ESC");
      press("q");
      EXPECT_TRUE(log.says("question: quit", 2)) << "ESC keeps the window";
      press(answer);
    });
    viewer.run({});
    EXPECT_EQ(result_of(folder), result);
  }
}

TEST(ClosingTest, AStopCancelsTheFile) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = writing_program(folder);
  const DebugLog log;
  Viewer viewer(script.options, script.stages, script.player_options);
  std::stop_source stop;
  const std::jthread user([&] {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press("w");
    ControlsScript::find(log, "progress");
    stop.request_stop();
  });
  viewer.run(stop.get_token());
  EXPECT_EQ(result_of(folder), "partial");
  EXPECT_TRUE(log.says("is not complete: it was canceled"));
}

TEST(ClosingTest, AFullDiskIsReportedAndTheWindowClosesWithoutAQuestion) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = (folder.path() / "writer").string();
  std::ofstream(script.options.program)
      << "#!/bin/sh\necho 'clip-denoised.mkv: No space left on device' >&2\nexit 1\n";
  std::filesystem::permissions(script.options.program, std::filesystem::perms::owner_all);
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    press("w");
    EXPECT_TRUE(log.says("clip-denoised.mkv is not complete: clip-denoised.mkv: No space left on device"));
  });
  EXPECT_EQ(log.count("question: "), 0);
}

TEST(ClosingTest, WriteProgressAndCancelAreInSight) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.window.size = {1280, 720};
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = writing_program(folder, 3000);
  const DebugLog log;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
    ControlsScript::click(log, "write");
    for (const char* const name : {"write", "copy command", "progress", "cancel"}) {
      const Place place = ControlsScript::find(log, name);
      EXPECT_TRUE(place.y > 0 && place.y < 720 - 54) << name << " at " << place.y;
    }
    ControlsScript::click(log, "cancel");
    EXPECT_TRUE(log.says("clip-denoised.mkv is not complete"));
  });
  EXPECT_EQ(result_of(folder), "partial");
}

TEST(NoiseBoxTest, IsMovedAndResizedInsideThePicture) {
  NoiseBox box({100, 100, 80, 64}, {640, 480}, 64);
  EXPECT_FALSE(box.grab(50, 130, 4));
  ASSERT_TRUE(box.grab(140, 130, 4));
  box.drag(150, 110);
  EXPECT_EQ(box.box(), (io::Rectangle{110, 80, 80, 64}));
  box.drag(-900, 2000);
  EXPECT_EQ(box.box(), (io::Rectangle{0, 416, 80, 64}));
  box.release();
  EXPECT_FALSE(box.is_held());
  ASSERT_TRUE(box.grab(81, 417, 4)) << "the right upper corner";
  box.drag(201, 317);
  EXPECT_EQ(box.box(), (io::Rectangle{0, 316, 200, 164}));
  box.drag(0, 470);
  EXPECT_EQ(box.box(), (io::Rectangle{0, 416, 64, 64})) << "not smaller than 64x64";
  box.release();
  ASSERT_TRUE(box.grab(30, 480, 4)) << "the lower edge";
  box.drag(60, 900);
  EXPECT_EQ(box.box(), (io::Rectangle{0, 416, 64, 64}));
}

TEST(NoiseBoxTest, TheFlattestPartIsProposed) {
  const FrameFormat format = oracle::gray(320, 240);
  Frame frame = allocate_frame(format);
  for (int y = 0; y < format.height; ++y) {
    for (int x = 0; x < format.width; ++x) {
      const bool flat = x >= 200 && y < 100;
      const int noise = (x * 7919 + y * 104729) % 9;
      const int texture = (x / 5 + y / 3) % 2 * 60;
      frame.planes[0].row<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(y >= 200 ? 0 : 90 + noise + (flat ? 0 : texture));
    }
  }
  const std::optional<Region> region =
      flattest_region(frame, {0, 0, frame.format.width, frame.format.height}, 64);
  ASSERT_TRUE(region);
  EXPECT_GE(region->x, 200);
  EXPECT_LE(region->y + region->height, 100);
  const std::optional<Region> seen = flattest_region(frame, {0, 0, 190, 240}, 64);
  ASSERT_TRUE(seen);
  EXPECT_LE(seen->x + seen->width, 190) << "controls cover the rest";
  EXPECT_EQ(flattest_region(frame, {0, 0, 50, 240}, 64), region) << "where there is no room, anywhere";
  EXPECT_FALSE(flattest_region(allocate_frame(oracle::gray(60, 240)), {0, 0, 60, 240}, 64));
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

// A program that ends after two seconds unless it is interrupted; an interrupt makes it write a file.
std::vector<std::string> interruptible_program(const std::filesystem::path& file) {
  return {"/bin/sh", "-c",
          "trap 'sleep 0.05; echo stopped > \"$0\"; exit 130' INT; echo ready >&2; "
          "i=0; while [ $i -lt 200 ]; do sleep 0.01; i=$((i + 1)); done",
          file.string()};
}

void wait_until_ready(BackgroundWrite& writing) {
  while (writing.message() != "ready" && !writing.poll()) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST(BackgroundWriteTest, CancelInterruptsTheProcess) {
  const test::TemporaryFolder folder;
  BackgroundWrite writing(interruptible_program(folder.path() / "interrupted"));
  wait_until_ready(writing);
  writing.cancel();
  std::optional<int> code;
  while (!(code = writing.poll())) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(code, 130);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "interrupted"));
}

TEST(BackgroundWriteTest, AProcessThatIsLeftAloneContinues) {
  const test::TemporaryFolder folder;
  {
    BackgroundWrite writing({"/bin/sh", "-c", "echo ready >&2; sleep 0.2; echo more >&2; echo done > \"$0\"",
                             (folder.path() / "result").string()});
    wait_until_ready(writing);
    writing.leave_alone();
  }
  EXPECT_EQ(result_of(folder), "done");
}

TEST(BackgroundWriteTest, DestructionInterruptsTheProcessAndWaitsForIt) {
  const test::TemporaryFolder folder;
  {
    BackgroundWrite writing(interruptible_program(folder.path() / "interrupted"));
    wait_until_ready(writing);
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "interrupted"));
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
