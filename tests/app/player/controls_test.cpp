// SPDX-License-Identifier: MIT
// Every control by the pointer and every key, in a window without a screen.
#include "app/player/controls.h"

#include <gtest/gtest.h>
#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/console/text.h"
#include "app/player/noise_area.h"
#include "app/player/properties.h"
#include "app/player/window_files.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/noise_settings.h"
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

void push_exposure() {
  SDL_Event event{};
  event.type = SDL_WINDOWEVENT;
  event.window.event = SDL_WINDOWEVENT_EXPOSED;
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

  /// The middle of a control, once it is there and rests, as ImGui places new windows in their second frame.
  Place find(const std::string& name) {
    std::optional<io::Rectangle> place;
    int rested = 0;
    waits([&] {
      push_exposure();  // to draw
      const auto before = std::exchange(place, viewer().controls().items().place(name));
      rested = place && before == place ? rested + 1 : 0;
      return rested > 2;
    });
    EXPECT_TRUE(place) << name;
    return place ? Place{place->x + place->width / 2, place->y + place->height / 2} : Place{};
  }
  bool has_control(const std::string& name) {
    find("toggle panel");
    return viewer().controls().items().place(name).has_value();
  }
  void click(const std::string& name) {
    const Place place = find(name);
    push_motion(place, 0);
    push_button(place, SDL_MOUSEBUTTONDOWN);
    push_button(place, SDL_MOUSEBUTTONUP);
  }
  static void drag(Place from, Place to) {
    push_motion(from, 0);
    push_button(from, SDL_MOUSEBUTTONDOWN);
    push_motion(to, SDL_BUTTON_LMASK, 0, {to.x - from.x, to.y - from.y});
    push_button(to, SDL_MOUSEBUTTONUP);
  }
};

TEST(ControlsTest, ThePassageHasHandlesOnTheTimeLine) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const auto passage = [&] { return viewer.state().passage; };
    const auto drag = [&](const std::string& handle, int by) {
      const Place at = script.find("drag-passage " + handle);
      ControlsScript::drag(at, {at.x + by, at.y});
    };
    drag("begin", 256);
    EXPECT_TRUE(script.waits([&] { return passage().begin; }));
    EXPECT_NEAR(*passage().begin, 2, 0.05);
    EXPECT_TRUE(script.says("passage 0:02.0"));
    drag("end", -256);
    EXPECT_TRUE(script.says(" to 0:07.9"));
    drag("end", -1200);
    EXPECT_TRUE(script.waits([&] { return *passage().end < 3; }));
    EXPECT_GT(*passage().end, *passage().begin) << "the end stays behind the begin";
    script.click("toggle loop");
    EXPECT_TRUE(script.says("loop from 0:02"));
    script.click("toggle loop");
    EXPECT_TRUE(script.says("no loop"));
  });
}

TEST(ControlsTest, ALoopOfTheWholeFileTakesOneClick) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const Place out = script.find("mark end");
    script.click("toggle loop");
    EXPECT_TRUE(script.has("loop", "on"));
    EXPECT_EQ(viewer.state().passage, Passage{});
    script.click("mark begin");
    EXPECT_TRUE(script.waits([&] { return viewer.state().passage.begin.has_value(); }));
    EXPECT_FALSE(viewer.state().passage.end);
    EXPECT_TRUE(script.waits([&] { return viewer.shown()->noisy.index >= 10; }));
    EXPECT_EQ(script.find("mark end").x, out.x) << "buttons stay where they are";
  });
}

using Said = std::pair<std::string, std::string>;

/// Every control that executes a line has the effect of that line.
TEST(ControlsTest, EveryControlDoesItsWork) {
  ControlsScript script;
  script.options.filters = {"bilateral", "bm3d", "vbm4d", "recursive"};
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    for (const auto& [line, property] : {Said{"toggle pause", "pause on"},
                                         {"set noise number", "noise number"},
                                         {"set noise clip", "noise clip"},
                                         {"set view noisy", "view noisy"},
                                         {"set view denoised", "view denoised"},
                                         {"set view side", "view side"},
                                         {"set view difference", "view difference"},
                                         {"set view split", "view split"},
                                         {"set zoom 2:1", "zoom 2:1"},
                                         {"set zoom Fit", "zoom Fit"},
                                         {"set settings B", "settings B"},
                                         {"set strength 1.4", "strength 1.40"},
                                         {"set quality Fast", "filter vbm4d"},
                                         {"undo", "filter bilateral"},
                                         {"redo", "filter vbm4d"},
                                         {"set settings A", "settings A"},
                                         {"set view pair", "view pair"},
                                         {"set view split", "view split"},
                                         {"toggle help", "help on"},
                                         {"toggle panel", "panel off"}}) {
      const std::size_t space = property.find(' ');
      const std::string name = property.substr(0, space);
      const std::string value = property.substr(space + 1);
      script.click(line);
      // Results that arrive may move a control before it is clicked.
      const auto again = std::chrono::steady_clock::now() + 2s;
      script.waits([&] { return viewer.text(name) == value || std::chrono::steady_clock::now() > again; });
      if (viewer.text(name) != value && line.starts_with("set ")) {
        script.click(line);
      }
      EXPECT_TRUE(script.has(name, value)) << line;
    }
  });
}

TEST(ControlsTest, ButtonsOfFilesAndFramesDoTheirWork) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    for (const auto& [line, said] : {Said{"set noise area", "are needed to measure noise"},
                                     {"copy-settings", "settings copied to B"},
                                     {"mark begin", "passage 0:"},
                                     {"mark end", "passage 0:"},
                                     {"whole-file", "the whole file"},
                                     {"copy-command", "copied: limpid denoise clip.mkv"}}) {
      script.click(line);
      EXPECT_TRUE(script.says(said)) << line;
    }
    script.click("save");
    script.click("save-noise");
    EXPECT_TRUE(script.says("measure the noise in a box first: n, or drag"));
    script.click("toggle pause");
    EXPECT_TRUE(script.has("pause", "on"));
    script.rests(200ms);
    const auto frame = [&] { return viewer.shown()->noisy.index; };
    const std::int64_t first = frame();
    script.click("step 1");
    EXPECT_TRUE(script.waits([&] { return frame() > first; }));
    const std::int64_t second = frame();
    script.click("step -1");
    EXPECT_TRUE(script.waits([&] { return frame() < second; }));
    script.click("set noise file");
    EXPECT_TRUE(script.waits([&] { return viewer.lists_files(); }));
    script.click("cancel files");
    EXPECT_TRUE(script.waits([&] { return !viewer.lists_files(); }));
    script.click("toggle full-screen");
    EXPECT_TRUE(script.has("full-screen", "on"));
  });
}

TEST(ControlsTest, SlidersAndListsChangeSettings) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const Place strength = script.find("strength");
    ControlsScript::drag(strength, {strength.x + 30, strength.y});
    EXPECT_TRUE(script.waits([&] { return viewer.number("strength") > 2; }));
    const double steps = viewer.number("strength") / 0.05;
    EXPECT_NEAR(steps, std::round(steps), 1e-3) << "the value is what is shown";
    script.click("More filters");
    script.click("filter");
    script.click("set filter bm3d");
    EXPECT_TRUE(script.has("filter", "bm3d"));
    script.click("profile");
    script.click("set profile fast");
    EXPECT_TRUE(script.has("profile", "fast"));
    script.click("speed");
    script.click("set speed 0.25");
    EXPECT_TRUE(script.has("speed", "0.25"));
    press("6");
    ControlsScript::drag(script.find("gain"), {1250, script.find("gain").y});
    EXPECT_TRUE(script.waits([&] { return viewer.number("gain") > 8; }));
    script.find("position");
    push_motion({1279, 899}, 0);  // the corner of the window is on the time line
    push_button({1279, 899}, SDL_MOUSEBUTTONDOWN);
    push_button({1279, 899}, SDL_MOUSEBUTTONUP);
    EXPECT_TRUE(script.says("0:09"));
  });
}

TEST(ControlsTest, AMicrophoneIsChosenAndHasALevel) {
  ControlsScript script;
  script.player_options.live = true;
  script.options.sound_level = [] { return 0.1F; };
  script.options.microphones = {{"default", "Default"}, {"hw:1", "Headset"}};
  script.options.microphone = "default";
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    script.find("level of audio");
    script.click("microphone");
    script.click("set microphone Headset");
    EXPECT_TRUE(script.waits([&] { return viewer.next_camera().has_value(); }));
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
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    press("V");
    EXPECT_TRUE(script.says("no other camera"));
    is_gone = true;
    EXPECT_TRUE(script.hints("/dev/video0 is gone: waiting for it    V: Other"));
    press("V");
    EXPECT_TRUE(script.waits([&] { return viewer.next_camera().has_value(); }));
    EXPECT_EQ(viewer.next_camera()->node, "/dev/video2");
  });
}

TEST(ControlsTest, EveryKeyDoesItsWork) {
  ControlsScript script;
  script.options.chapters = {{0, ""}, {5, "End"}};
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    for (const auto& [key, said] : {Said{" ", "paused"},
                                    {"Shift+UP", "strength: 1.10"},
                                    {"Shift+DOWN", "strength: 1.00"},
                                    {"UP", "0:10"},
                                    {"DOWN", "0:00"},
                                    {"Shift+RIGHT", "0:01"},
                                    {"Shift+LEFT", "0:00"},
                                    {"PGUP", "chapter 2 of 2: End"},
                                    {"PGUP", "the last chapter"},
                                    {"PGDN", "chapter 1 of 2"},
                                    {"Ctrl+Z", "undo: bilateral, strength 1.1"},
                                    {"Ctrl+Y", "redo: bilateral, strength 1"},
                                    {"d", "original: 5 %"},
                                    {"D", "original: 0 %"},
                                    {"+", "level: 5.5"},
                                    {"Ctrl+UP", "chroma strength: 1.10"},
                                    {"Ctrl+DOWN", "chroma strength: 1.00"},
                                    {"5", "view: pair"},
                                    {"3", "view: split"},
                                    {")", "chroma level: 6.0"},
                                    {"(", "chroma level: 5.5"},
                                    {"a", "noise: clip"},
                                    {"v", "noise: number"},
                                    {"n", "are needed to measure noise"},
                                    {"e", "filter: bm3d"},
                                    {"c", "profile: "},
                                    {"C", "profile: "},
                                    {"E", "filter: bilateral"},
                                    {"Q", "pace: on"},
                                    {"B", "settings copied to A"},
                                    {"b", "settings A: bilateral"},
                                    {"5", "view: pair"},
                                    {"3", "view: split"},
                                    {"Ctrl+N", "measure the noise in a box first"},
                                    {"4", "view: side"},
                                    {"g", "gain: 8"},
                                    {"G", "gain: 4"},
                                    {"h", "h: only for cameras"},
                                    {"P", "pixels: on"},
                                    {"P", "pixels: off"},
                                    {"9", "no audio"},
                                    {"t", "line follows: on"},
                                    {"|", "split line in the middle"},
                                    {"m", "no audio"},
                                    {"I", "passage 0:"},
                                    {"i", "statistics: on"},
                                    {"O", "passage 0:"},
                                    {"X", "the whole file"},
                                    {"Ctrl+C", "copied: limpid denoise"},
                                    {"z", "zoom: "},
                                    {"Z", "zoom: Fit"},
                                    {"W", "no file is being written"},
                                    {"[", "speed: 0.91"},
                                    {"BACKSPACE", "speed: 1.00"},
                                    {"{", "speed: 0.50"},
                                    {"}", "speed: 1.00"}}) {
      press(key);
      EXPECT_TRUE(script.says(said)) << key;
    }
  });
}

// A property has one value, and one name for it, wherever it is shown.
TEST(PropertiesTest, EveryValueCanBeSetAndRead) {
  ControlsScript script;
  script.options.filters = {"bilateral", "bm3d"};
  script.options.encoders = {"libx264", "libx264", "ffv1"};
  script.play([&](Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    viewer.execute("set pause on");
    viewer.execute("copy-settings");
    for (const Property& property : properties()) {
      const std::string name(property.name);
      if (!viewer.is_in_scope(property.scope) || name == "position" || name == "volume" || name == "mute" ||
          name == "pause" || name == "noise" || name == "quality") {
        continue;  // they have no audio to change, or ask for more
      }
      EXPECT_FALSE(property.text.empty()) << name;
      for (const std::string& value :
           property.names ? property.names(viewer) : std::vector<std::string>{"1", "2"}) {
        viewer.execute("set " + name + " " + value);
        script.settles();
        EXPECT_EQ(property.names ? viewer.text(name) : fmt::format("{:g}", viewer.number(name)), value)
            << name;
      }
    }
  });
}

TEST(PropertiesTest, NumbersStayInTheirRange) {
  ControlsScript script;
  script.play([&](Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    for (const auto& [line, name, value] : {std::tuple{"set strength 99", "strength", 10.0},
                                            {"add strength -20", "strength", 0.0},
                                            {"set strength 1.26", "strength", 1.25},
                                            {"add strength 0.1", "strength", 1.35},
                                            {"set gain 100", "gain", 32.0},
                                            {"multiply speed 1000", "speed", 20.0},
                                            {"set original 120", "original", 100.0}}) {
      viewer.execute(line);
      EXPECT_NEAR(viewer.number(name), value, 1e-6) << line;
    }
    EXPECT_THROW(viewer.execute("set nothing 1"), Error);
  });
}

TEST(PropertiesTest, ChromaFollowsTheStrengthWhileBothAreEqual) {
  ControlsScript script;
  script.play([&](Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    viewer.execute("set strength 2");
    EXPECT_EQ(viewer.number("chroma-strength"), 2);
    viewer.execute("set chroma-strength 1");
    viewer.execute("set strength 3");
    EXPECT_EQ(viewer.number("chroma-strength"), 1);
    viewer.execute("set level 10");
    EXPECT_EQ(viewer.number("chroma-level"), 10) << "it was 5, as luma";
  });
}

TEST(ControlsTest, AClickPausesAndADragMovesTheLine) {
  ControlsScript script;
  script.options.controls = false;
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    const Place picture{300, 300};
    push_motion(picture, 0);
    script.find("toggle pause");  // the pointer has moved
    push_button(picture, SDL_MOUSEBUTTONDOWN);
    push_button(picture, SDL_MOUSEBUTTONUP);
    EXPECT_TRUE(script.has("pause", "on"));
    ControlsScript::drag(picture, {picture.x + 90, picture.y});
    script.settles();
    EXPECT_EQ(script.viewer().text("pause"), "on") << "the line has been moved";
  });
}

// The first click of a double click chose the file in the window of the file before.
TEST(ControlsTest, TheRestOfADoubleClickDoesNothing) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    push_button({300, 300}, SDL_MOUSEBUTTONDOWN, 2);
    push_button({300, 300}, SDL_MOUSEBUTTONUP);
    press("i");
    EXPECT_TRUE(script.has("statistics", "on"));
    EXPECT_EQ(viewer.text("pause"), "off");
    EXPECT_EQ(viewer.text("full-screen"), "off");
  });
}

TEST(ControlsTest, AFingerDoesWhatAMouseDoes) {
  ControlsScript script;
  script.options.controls = false;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const Place picture{300, 300};
    push_finger(picture, picture);
    EXPECT_TRUE(script.has("pause", "on"));
    const Place play = script.find("toggle pause");
    push_finger(play, play);
    EXPECT_TRUE(script.has("pause", "off"));
    push_finger(picture, {picture.x + 90, picture.y});
    press("TAB");
    const Place strength = script.find("strength");
    push_finger(strength, {strength.x + 30, strength.y});
    EXPECT_TRUE(script.waits([&] { return viewer.number("strength") > 2; }));
    EXPECT_EQ(viewer.text("pause"), "off") << "the line has been moved";
  });
}

class WindowSizes : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(WindowSizes, HaveAllControlsInSight) {
  ControlsScript script;
  const auto [width, height] = GetParam();
  script.options.window.size = {width, height};
  script.options.refuse_file = [](const std::string&) { return std::string(); };
  script.play([&, width = width, height = height] {
    EXPECT_TRUE(script.shows(1));
    std::map<std::pair<int, int>, std::string> places;
    for (const char* const name :
         {"toggle pause", "step -1", "step 1", "open", "toggle panel", "toggle help", "toggle full-screen",
          "strength", "set strength 0.7", "set strength 1", "set strength 1.4", "write", "copy-command"}) {
      const Place place = script.find(name);
      EXPECT_TRUE(place.x > 0 && place.x < width - 10) << name << " at " << place.x;
      EXPECT_TRUE(place.y > 0 && place.y < height) << name << " at " << place.y;
      EXPECT_EQ(places.emplace(std::pair(place.x, place.y), name).first->second, name);
    }
    for (const char* const name :
         {"mark begin", "speed", "set view pair", "set noise area", "set quality Good"}) {
      script.find(name);  // perhaps below the visible part of the panel
    }
    script.click("set strength 1.4");
    EXPECT_TRUE(script.has("strength", "1.40"));
    const io::Size stage = script.viewer().screen().stage();
    EXPECT_GE(stage.width * stage.height * 4, width * height) << "a quarter of the window is for the picture";
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, WindowSizes,
                         testing::Values(std::pair(360, 640), std::pair(540, 960), std::pair(640, 360),
                                         std::pair(1280, 720)));

TEST(ControlsTest, TheWholePanelIsInSightIn720Rows) {
  ControlsScript script;
  script.player_options.settings.noise.noise.reset();
  script.options.window.size = {1280, 720};
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    press("6");  // with the gain
    const auto expect_in_sight = [&] {
      script.find("set zoom 8:1");
      const auto& items = script.viewer().controls().items();
      const io::Rectangle last = *items.place("set zoom 8:1");
      EXPECT_LT(last.y + last.height, items.place("output file")->y);
    };
    expect_in_sight();
    script.click("More filters");
    script.find("filter");
    expect_in_sight();
    script.click("Noise by brightness");
    EXPECT_TRUE(script.waits([&] { return !script.has_control("filter"); })) << "it closes the other part";
    expect_in_sight();
  });
}

TEST(ControlsTest, TheTableOfKeysTakesThePlaceOfThePanel) {
  ControlsScript script;
  script.play([&] {
    script.find("strength");
    press("?");
    EXPECT_TRUE(script.waits([&] { return !script.has_control("strength"); }));
    press("ESC");
    script.find("strength");
  });
}

TEST(ControlsTest, AnOpenListGetsTheKeysAndEscNeverQuits) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    script.click("More filters");
    script.click("filter");
    script.find("set filter bm3d");
    press("DOWN");
    press("ENTER");
    EXPECT_TRUE(script.has("filter", "bm3d"));
    EXPECT_EQ(viewer.number("strength"), 1);
    script.click("filter");
    script.find("set filter bm3d");
    press("ESC");
    press("i");
    EXPECT_TRUE(script.has("statistics", "on")) << "the list is closed";
    press("?");
    press("ESC");  // closes the help
    for (int i = 0; i < 3; ++i) {
      press("ESC");
    }
    press("?");
    EXPECT_TRUE(script.has("help", "on")) << "the help was closed, and the window was not";
  });
}

TEST(ControlsTest, AHeldKeyRepeatsStepsAndNotSwitches) {
  ControlsScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    hold(SDLK_SPACE, " ", 31);
    hold(SDLK_TAB, nullptr, 31);
    hold(SDLK_KP_PLUS, "+", 3);
    EXPECT_TRUE(script.has("level", "6.5"));
    EXPECT_EQ(viewer.text("pause"), "on");
    EXPECT_EQ(viewer.text("panel"), "off");
  });
}

TEST(ControlsTest, ValuesAreTypedResetAndUndone) {
  ControlsScript script;
  const auto type_into = [&script](const std::string& field, const std::vector<std::string>& keys) {
    script.click(field);
    for (const std::string& key : keys) {
      press(key);
    }
  };
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    type_into("strength value", {"1", ",", "7", "ENTER"});
    EXPECT_TRUE(script.has("strength", "1.70"));
    type_into("original value", {"2", "5", "ENTER"});
    EXPECT_TRUE(script.has("original", "25 %"));
    type_into("strength value", {"a", "b", "ENTER"});
    EXPECT_TRUE(script.says("not a number: ab"));
    type_into("strength value", {"3", "ESC"});
    press("i");
    EXPECT_TRUE(script.has("statistics", "on")) << "the field is left";
    EXPECT_EQ(viewer.text("view"), "split") << "digits are no keys in a field";
    EXPECT_EQ(viewer.text("strength"), "1.70") << "ESC discards the text";
    const Place strength = script.find("strength");
    for (const Uint8 clicks : {Uint8{1}, Uint8{2}}) {
      push_motion(strength, 0);
      push_button(strength, SDL_MOUSEBUTTONDOWN, clicks);
      push_button(strength, SDL_MOUSEBUTTONUP, clicks);
    }
    EXPECT_TRUE(script.has("strength", "1.00"));
    press("Ctrl+Z");
    EXPECT_TRUE(script.has("strength", "1.70")) << "a double click is one step";
    press("Ctrl+Y");
    EXPECT_TRUE(script.has("strength", "1.00"));
    EXPECT_EQ(viewer.text("original"), "25 %");
  });
}

TEST(ControlsTest, EverySettingIsUndoneAndRedone) {
  ControlsScript script;
  script.play([&](Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    viewer.execute("set pause on");
    const PlayerSettings first = viewer.chosen();
    const std::vector<const char*> lines{"add strength 0.1",     "add chroma-strength 0.1",
                                         "add original 5",       "add level 0.5",
                                         "add chroma-level 0.5", "set noise clip",
                                         "set noise number",     "cycle filter",
                                         "cycle profile",        "toggle pace"};
    for (const char* const line : lines) {
      viewer.execute(line);
    }
    const PlayerSettings last = viewer.chosen();
    for (const auto& [line, settings] : {std::pair{"undo", first}, {"redo", last}}) {
      for (std::size_t i = 0; i < lines.size(); ++i) {
        viewer.execute(line);
        EXPECT_EQ(viewer.notice_text().find("nothing"), std::string::npos) << i;
      }
      EXPECT_EQ(viewer.chosen(), settings) << line;
      viewer.execute(line);
      EXPECT_EQ(viewer.notice_text(), std::string("nothing to ") + line);
    }
    viewer.execute("set settings B");
    viewer.execute("undo");
    EXPECT_EQ(viewer.notice_text(), "nothing to undo") << "B has a history of its own";
  });
}

/// True if a row of the window above the bar is not black, as with a tooltip.
bool has_tooltip(const Viewer& viewer) {
  const io::RgbImage window = viewer.window()->snapshot();
  const io::Pixel* const row = window.row(900 - 54 - 14);
  return std::any_of(row, row + 120, [](io::Pixel pixel) { return io::green(pixel) > 15; });
}

TEST(ControlsTest, TooltipsAppearAfterAWhileAndEndAtAKey) {
  ControlsScript script;
  script.options.overlay = false;
  script.play([&](Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    viewer.execute("set pause on");
    push_motion(script.find("step -1"), 0);
    script.settles();
    EXPECT_FALSE(has_tooltip(viewer));
    EXPECT_TRUE(script.waits([&] {
      push_exposure();
      return has_tooltip(viewer);
    }));
    press("b");
    EXPECT_TRUE(script.waits([&] {
      push_exposure();
      return !has_tooltip(viewer);
    }));
    script.rests(700ms);
    EXPECT_FALSE(has_tooltip(viewer)) << "until the pointer is on another control";
  });
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
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    script.click("save");
    script.click("save-settings");
    EXPECT_TRUE(script.says("written: " + script.file("clip-settings.json")));
    const DenoisingSettings saved = read_settings(script.file("clip-settings.json"));
    EXPECT_EQ(saved.noise, script.player_options.settings.noise);
    EXPECT_EQ(to_string(saved.filter), "bilateral");
    press("Ctrl+S");
    EXPECT_TRUE(script.says("written: " + script.file("clip-settings-2.json"))) << "no file is replaced";

    std::ofstream(script.file("look.json"))
        << R"({"limpid_settings": 1, "filter": "bm3d:profile=fast:step=5"})";
    FilesScript::drop(script.file("look.json"));
    EXPECT_TRUE(script.says("settings of look.json"));
    press("Ctrl+S");
    EXPECT_TRUE(script.says("written: " + script.file("clip-settings-3.json")));
    EXPECT_EQ(to_string(read_settings(script.file("clip-settings-3.json")).filter),
              "bm3d:quality=fast:step=5");

    std::ofstream(script.file("wrong.json")) << "{}";
    FilesScript::drop(script.file("wrong.json"));
    EXPECT_TRUE(script.says("wrong.json' is not a settings file"));
    FilesScript::drop(script.file("bad.mkv"));
    EXPECT_TRUE(script.says("" + script.file("bad.mkv") + ": is damaged"));
  });
}

TEST(FilesTest, ADroppedVideoIsShownNext) {
  FilesScript script;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    FilesScript::drop("/films/other.mkv");
    EXPECT_TRUE(script.waits([&] { return viewer.next_input() == "/films/other.mkv"; }));
  });
}

TEST(FilesTest, AFileIsChosenWithThePointerAndWithKeys) {
  FilesScript script;
  std::filesystem::create_directory(script.folder.path() / "looks");
  for (const char* const name : {"soft.json", "strong.json"}) {
    std::ofstream(script.folder.path() / "looks" / name) << R"({"limpid_settings": 1, "strength": 0.5})";
  }
  std::ofstream(script.file("notes.txt")) << "x";
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const auto lists = [&](bool shown) {
      return script.waits([&] { return viewer.lists_files() == shown; });
    };
    script.click("open");
    script.click("file looks");
    script.click("file strong.json");
    EXPECT_TRUE(script.says("settings of strong.json"));
    EXPECT_TRUE(lists(false));
    press("N");
    EXPECT_TRUE(lists(true));
    EXPECT_FALSE(script.has_control("file notes.txt"));
    for (const char* const key : {"BACKSPACE", "HOME", "l", "ENTER", "s", "ENTER"}) {
      press(key);
    }
    EXPECT_TRUE(script.says("settings of soft.json"));
    press("?");
    EXPECT_TRUE(script.has("help", "on"));
    script.click("open");
    EXPECT_TRUE(lists(true));
    EXPECT_EQ(viewer.text("help"), "off");
    script.click("cancel files");
    EXPECT_TRUE(lists(false));
    press("Ctrl+O");
    EXPECT_TRUE(lists(true));
    press("ESC");
    press("i");
    EXPECT_TRUE(script.has("statistics", "on")) << "the list is closed, and the window is not";
  });
}

TEST(FilesTest, TheNoiseOfABoxIsMeasuredAgainWhereItIsMoved) {
  FilesScript script;
  script.options.controls = false;
  script.options.window.size = {1024, 768};  // 4:1
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    const auto box = [&] { return viewer.area().box() ? viewer.area().box()->box() : io::Rectangle{}; };
    press(" ");
    press("n");
    EXPECT_TRUE(script.says("noise measured in the box"));
    EXPECT_EQ(viewer.text("noise"), "area");
    press("Ctrl+N");
    EXPECT_TRUE(script.says("written: " + script.file("clip-noise.json")));
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
    EXPECT_TRUE(script.waits([&] { return box() == io::Rectangle{50, 50, 100, 90}; }));
    EXPECT_TRUE(script.says("noise measured in the box"));
    ControlsScript::drag({200, 200}, {100, 160});
    EXPECT_TRUE(script.waits([&] { return box() == io::Rectangle{25, 40, 125, 100}; }));
    EXPECT_EQ(viewer.text("noise"), "area");
    press("a");
    EXPECT_TRUE(script.has("noise", "clip"));
  });
}

TEST(FilesTest, BothSettingsAreShownOfAPausedPicture) {
  FilesScript script;
  script.stages.make_denoiser = [&script](const PlayerSettings& settings, const Frame& frame,
                                          const NoiseModel& level) {
    return script.stages.engine->make_denoiser(live_filter(settings), level, frame.format);
  };
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    for (const char* const key : {"B", "b", "Shift+UP", "Shift+UP", "Shift+UP"}) {
      press(key);
    }
    EXPECT_TRUE(script.has("strength", "1.30"));
    press("5");
    EXPECT_TRUE(script.labels(": computing")) << "no result has another name";
    EXPECT_TRUE(script.labels("A: bilateral, strength 1 | B: bilateral, strength 1.3"));
    press(".");
    EXPECT_TRUE(script.labels(": computing"));
    EXPECT_TRUE(script.labels("A: bilateral, strength 1 | B: bilateral, strength 1.3"))
        << "of the next frame";
    press("1");
    EXPECT_TRUE(script.has("view", "noisy"));
  });
}

TEST(FilesTest, AViewOfBothSettingsBeginsWithACopy) {
  FilesScript script;
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    press("5");
    EXPECT_TRUE(script.labels("A: bilateral, strength 1 | B: bilateral, strength 1"));
    press("Shift+UP");
    EXPECT_TRUE(script.labels("A: bilateral, strength 1 | B: bilateral, strength 1.1"));
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
    script.play([&, answer = key](const Viewer& viewer) {
      EXPECT_TRUE(script.shows(1));
      press("w");
      script.find("progress");
      press("w");
      EXPECT_TRUE(script.says("; W cancels it")) << "the key does not cancel";
      push_close();
      EXPECT_TRUE(script.waits([&] { return viewer.state().asks_to_quit; }));
      press("ESC");
      EXPECT_TRUE(script.waits([&] { return !viewer.state().asks_to_quit; })) << "ESC keeps the window";
      press("q");
      EXPECT_TRUE(script.waits([&] { return viewer.state().asks_to_quit; }));
      press(answer);
    });
    EXPECT_EQ(result_of(folder), result);
  }
}

TEST(ClosingTest, AStopCancelsTheFile) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = writing_program(folder);
  Viewer& viewer = script.open();
  EXPECT_TRUE(script.shows(1));
  press("w");
  script.find("progress");
  std::stop_source stop;
  stop.request_stop();
  viewer.run(stop.get_token());
  EXPECT_EQ(result_of(folder), "partial");
}

TEST(ClosingTest, AFullDiskIsReportedAndTheWindowClosesWithoutAQuestion) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = (folder.path() / "writer").string();
  std::ofstream(script.options.program)
      << "#!/bin/sh\necho 'clip-denoised.mkv: No space left on device' >&2\nexit 1\n";
  std::filesystem::permissions(script.options.program, std::filesystem::perms::owner_all);
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    press("w");
    EXPECT_TRUE(script.says("clip-denoised.mkv is not complete: clip-denoised.mkv: No space left on device"));
    press("q");
    script.settles();
    EXPECT_TRUE(viewer.state().quits);
  });
}

TEST(ClosingTest, WriteProgressAndCancelAreInSight) {
  const test::TemporaryFolder folder;
  ControlsScript script;
  script.options.window.size = {1280, 720};
  script.options.input = (folder.path() / "clip.mkv").string();
  script.options.program = writing_program(folder, 3000);
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    script.click("write");
    for (const char* const name : {"write", "copy-command", "progress", "cancel-writing"}) {
      const Place place = script.find(name);
      EXPECT_TRUE(place.y > 0 && place.y < 720 - 54) << name << " at " << place.y;
    }
    script.click("cancel-writing");
    EXPECT_TRUE(script.says("clip-denoised.mkv is not complete"));
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
