// SPDX-License-Identifier: MIT
// The window with all its threads in one process, where the sanitizers see them, without a screen.
#include "app/player/viewer.h"

#include <SDL.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/options/settings_options.h"
#include "app/player/properties.h"
#include "core/engines.h"
#include "tests/app/player/never_done.h"
#include "tests/app/player/viewer_script.h"
#include "tests/io/media/media.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

// A thousand keys at random; the frames that play are so small that every filter keeps up.
TEST(ViewerTest, KeysAtRandomLeakNothing) {
  constexpr int kKeys = 1000;
  constexpr std::array kNames = {"m", "c", "a", "k",  "b",    "B", "g",    "G",     "4",   "TAB", "I", "O",
                                 "X", "+", "-", "UP", "DOWN", "0", "1",    "2",     "3",   "z",   "Z", "i",
                                 "?", " ", ".", ",",  "[",    "]", "LEFT", "RIGHT", "END", "l",   "t", "|"};
  setenv("SDL_VIDEODRIVER", "offscreen", 1);
  const FrameFormat format = oracle::yuv(32, 24, 1, 1);
  std::vector<Frame> clip;
  for (int i = 0; i < 4; ++i) {
    clip.push_back(oracle::add_noise(oracle::draw_picture(format), 15, static_cast<std::uint64_t>(i)));
  }
  const std::shared_ptr<Engine> engine = engine_registry().open("cpu", EngineOptions{2});
  std::atomic<int> alive = 0;

  PlayerStages stages;
  std::int64_t next = 0;
  stages.read = [&]() -> io::Reader::Item {
    Frame frame = clip[static_cast<std::size_t>(next) % clip.size()];
    ++alive;
    frame.attachment = std::shared_ptr<void>(nullptr, [&alive](void*) { --alive; });
    frame.index = next++;
    return frame;
  };
  stages.seek = [&](double seconds, double /*before*/, const auto&...) {
    next = std::max<std::int64_t>(0, std::llround(seconds * kRate));
  };
  stages.engine = engine;
  stages.make_denoiser = [&](const PlayerSettings& settings, const Frame& frame, const NoiseModel& level) {
    const std::string options =
        settings.filter.name == "bm3d" ? ":profile=" + settings.filter.profile.value_or("") : "";
    return engine->make_denoiser(FilterText(settings.filter.name + options).filter(), level, frame.format);
  };
  stages.refining_reach = [](const PlayerSettings&) { return Reach{2, 3}; };
  stages.make_refiner = stages.make_denoiser;
  ViewerOptions options;
  options.source = "clip";
  options.format = format;
  options.engine = engine->name();
  for (const FilterType& type : filter_types()) {
    options.filters.push_back(type.name);
  }
  options.window = {.title = "clip", .size = {640, 480}, .fixed = true, .vsync = false};
  PlayerOptions player_options;
  player_options.frames_per_second = kRate;
  player_options.duration = 60;
  player_options.settings.filter = {.name = "bm3d", .profile = "np", .parameters = {}};

  const auto play = [&](int keys, std::int64_t frames) {
    Viewer viewer(options, stages, player_options);
    std::mt19937 random(5);
    const auto end = std::chrono::steady_clock::now() + 60s;  // a slow machine gets more keys, if need be
    for (int key = 0;
         key < keys || (viewer.counters().shown < frames && std::chrono::steady_clock::now() < end); ++key) {
      press(kNames[random() % kNames.size()]);
      viewer.step({}, 3ms);  // there may be no frame, as it may be paused
    }
    press("q");
    viewer.run({});
    EXPECT_TRUE(viewer.report().times.empty()) << "nobody has asked for them";
    return viewer.report().shown;
  };
  play(3, 0);  // what stays for the next window
  EXPECT_EQ(alive, 0);
  const std::ptrdiff_t descriptors = open_descriptors();
  constexpr std::int64_t kFrames = 10;
  EXPECT_GE(play(kKeys, kFrames), kFrames);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(ViewerTest, AQuickerFilterHelpsBeforeTheFirstFrameIsDenoised) {
  ViewerScript script;
  std::atomic<int> begun = 0;
  script.options.keep_open = true;
  script.stages.make_denoiser = [&begun, make = script.stages.make_denoiser](
                                    const PlayerSettings& settings, const Frame& frame,
                                    const NoiseModel& level) -> std::unique_ptr<Denoiser> {
    return settings.filter.name == "bm3d" ? std::make_unique<NeverDone>(begun) : make(settings, frame, level);
  };
  script.play([&] {
    EXPECT_TRUE(script.reaches(begun, 1));
    EXPECT_TRUE(script.hints("denoising the first frame; Q: automatic quality"));
    for (const char* const key : {"?", "?", "s", "0", "1", "2", "3", "z", "Z", "c"}) {
      press(key);  // there is nothing of a denoised frame yet
    }
    EXPECT_TRUE(script.reaches(begun, 2)) << "with the other profile";
    press("e");
    EXPECT_TRUE(script.shows(1));
  });
}

TEST(ViewerTest, GoesOnFromTheBeginningAndKeepsTheWindowWhenItLeavesTheFullScreen) {
  ViewerScript script;
  script.options.keep_open = true;
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.waits([&] { return viewer.state().ended; }));
    const std::int64_t seen = viewer.counters().shown;
    press("f");
    press("ESC");
    press(" ");
    // Some may be dropped, but not the first and the last.
    EXPECT_TRUE(script.shows(seen + 2));
    press("END");
  });
}

std::vector<std::string> stages_of(const Statistics& statistics) {
  std::vector<std::string> stages;
  for (const Statistics::Load& load : statistics.loads) {
    stages.push_back(load.stage);
  }
  return stages;
}

TEST(ViewerTest, TellsThatDenoisingIsTooSlow) {
  ViewerScript script;
  std::atomic<int> begun = 0;
  script.stages.make_denoiser = [&begun](const PlayerSettings& settings, const Frame&, const NoiseModel&) {
    return std::make_unique<NeverDone>(begun, settings.filter.profile == "np" ? 1 : 0);
  };
  const Statistics told = script.play([&] {
    EXPECT_TRUE(
        script.hints("too slow: 0 of 100 frames a second shown; pause for the final picture; "
                     "Q: automatic quality"));
    press("c");
    EXPECT_TRUE(script.hints("denoising with the new settings; Q: automatic quality"));
  });
  EXPECT_EQ(stages_of(told), (std::vector<std::string>{"decode", "denoise", "present"}));
  ASSERT_GT(told.loads.size(), 1U);
  EXPECT_GT(told.loads[1].share, 0.8) << "of work that isn't done yet";
}

/// Has the script's frames come so long after each other, without an end.
void come_slowly(ViewerScript& script, std::chrono::milliseconds between) {
  script.frames = 1 << 20;
  script.stages.read = [between, read = script.stages.read] {
    std::this_thread::sleep_for(between);
    return read();
  };
}

TEST(ViewerTest, TellsThatDecodingIsTooSlow) {
  ViewerScript script;
  come_slowly(script, 50ms);
  script.play([&] { EXPECT_TRUE(script.hints("of 100 frames a second shown; reading takes ")); });
}

TEST(ViewerTest, TellsThatNoNoiseWasFound) {
  ViewerScript script;
  script.frames = 1 << 20;
  script.player_options.settings.noise.noise.reset();
  for (const Plane& plane : script.picture.planes) {
    for (int y = 0; y < plane.height; ++y) {
      std::fill_n(plane.row<std::uint8_t>(y), plane.width, std::uint8_t{128});
    }
  }
  script.play([&] {
    EXPECT_TRUE(script.hints("no noise found ("));
    EXPECT_TRUE(script.hints("), nothing is changed; +: denoise all the same"));
    press("+");
    EXPECT_TRUE(script.has("level", "0.5"));
  });
}

TEST(ViewerTest, HintsNameTheKeysOfTheTable) {
  PlayedFrame frame;
  frame.settings.noise.strength = {1, 1};
  frame.noise.sigma = {0.4F, 0.4F, 0.4F};
  EXPECT_EQ(noise_hint(frame), "hardly any noise; Shift+UP, +: denoise more");
  EXPECT_EQ(key_of("add strength 0.1"), "Shift+UP");
}

TEST(ViewerTest, EndGoesToTheLastFrameAndTheWayThereIsTold) {
  ViewerScript script;
  script.frames = 6000;
  script.options.duration = script.player_options.duration = script.frames / kRate;
  std::atomic<bool> arrives = false;
  script.stages.seek = [&arrives, seek = script.stages.seek](double seconds, double before,
                                                             const std::function<bool()>& given_up,
                                                             const auto&... rest) {
    arrives.wait(false);
    seek(seconds, before, given_up, rest...);
  };
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    press("END");
    EXPECT_TRUE(script.hints("seeking 1:00"));
    arrives = true;
    arrives.notify_all();
    EXPECT_TRUE(script.waits([&] { return viewer.shown()->noisy.index == 5999; }))
        << "paused, to be looked at";
  });
}

TEST(ViewerTest, ReadingALiveSourceIsNoLoad) {
  ViewerScript script;
  come_slowly(script, 20ms);
  script.player_options.live = true;
  std::atomic<int> begun = 0;
  script.stages.make_denoiser = [&begun](const PlayerSettings&, const Frame&, const NoiseModel&) {
    return std::make_unique<NeverDone>(begun, 1);
  };
  const Statistics told = script.play(
      [&] { EXPECT_TRUE(script.hints("too slow: 0 of 100 frames a second shown; Q: automatic quality")); });
  EXPECT_EQ(stages_of(told), (std::vector<std::string>{"denoise", "present"}));
  EXPECT_EQ(told.state, "live");
}

TEST(ViewerTest, ALiveSourceMayHaveFewFrames) {
  ViewerScript script;
  come_slowly(script, 200ms);
  script.player_options.live = true;
  script.play([&](const Viewer& viewer) {
    script.rests(4500ms);  // more than it takes for a hint
    EXPECT_EQ(viewer.state().hint, "");
  });
}

TEST(ViewerTest, SavedPicturesOfAPauseAreRefined) {
  const test::TemporaryFolder folder;
  ViewerScript script;
  script.options.keep_open = true;
  script.options.picture_folder = folder.path();
  std::atomic<int> refined = 0;
  script.stages.refining_reach = [](const PlayerSettings&) { return Reach{1, 1}; };
  script.stages.make_refiner = [&](const PlayerSettings&, const Frame& frame, const NoiseModel& level) {
    ++refined;
    NoiseModel none = level;
    none.sigma.fill(0);  // to be told from what is shown first
    return script.stages.engine->make_denoiser(FilterText("bilateral").filter(), none, frame.format);
  };
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.waits([&] { return viewer.state().ended; }));
    press("END");  // which pauses
    EXPECT_TRUE(script.shows(viewer.counters().shown + 1));
    press("s");
    EXPECT_TRUE(script.says("clip-000004-noisy.png, -denoised.png, -split.png"));
  });
  EXPECT_GT(refined, 0);
  const auto bytes_of = [&](const std::string& name) {
    std::ifstream file(folder.path() / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_FALSE(bytes_of("clip-000004-noisy.png").empty());
  EXPECT_EQ(bytes_of("clip-000004-denoised.png"), bytes_of("clip-000004-noisy.png"));
}

TEST(ViewerTest, TheLabelIsFinalInViewUntilThePictureIsMoved) {
  for (const auto& [dx, dy] : {std::pair{100, 0}, {-100, 0}, {0, 100}, {0, -100}}) {
    ViewerScript script;
    script.options.format = oracle::yuv(512, 384, 1, 1);
    script.picture = oracle::draw_picture(script.options.format);
    script.options.window.size = {512, 384};
    script.options.side = Side::kDenoised;
    script.options.zoom = 4;
    script.options.keep_open = true;
    script.player_options.settings.filter = {.name = "vbm4d", .profile = "np", .parameters = {}};
    script.stages.refining_reach = [](const PlayerSettings&) { return Reach{1, 1}; };
    std::atomic<int> begun = 0;
    script.stages.make_refiner = [&](const PlayerSettings&, const Frame& frame, const NoiseModel& level) {
      return frame.format == script.options.format
                 ? std::make_unique<NeverDone>(begun)
                 : script.stages.engine->make_denoiser(FilterText("bilateral").filter(), level, frame.format);
    };
    script.play([&, x = dx, y = dy](Viewer& viewer) {
      EXPECT_TRUE(script.labels("denoised, final in view"));
      io::WindowEvent drag;
      drag.kind = io::WindowEvent::Kind::kDrag;
      drag.x = 100 + (drag.dx = x);
      drag.y = 100 + (drag.dy = y);
      viewer.handle(drag);
      EXPECT_EQ(script.label(), "denoised, final in a part") << x << ", " << y;
    });
  }
}

TEST(ViewerTest, AStillPictureHasNoRateAndARecordingItsSign) {
  for (const bool still : {false, true}) {
    ViewerScript script;
    script.frames = 1;
    script.player_options.frames_per_second = 0.1;  // it stays until the key
    script.options.still_picture = still;
    script.options.recording = [] { return "REC 0:01 0.1 MB"; };
    const Statistics told = script.play([&] { EXPECT_TRUE(script.shows(1)); });
    EXPECT_EQ(told.source_fps, still ? 0 : 0.1);
    EXPECT_EQ(told.state, "playing   REC 0:01 0.1 MB");
  }
}

TEST(ViewerTest, AKeyRecordsWhereThatIsPossible) {
  ViewerScript script;
  script.options.keep_open = true;
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    press("r");
    EXPECT_TRUE(script.says("r L V h: only for cameras"));
  });
}

TEST(ViewerTest, TheWindowSaysThatItOpensTheSource) {
  ViewerScript script;
  std::atomic<bool> arrives = false;
  script.stages.read = [&arrives, read = script.stages.read] {
    arrives.wait(false);
    return read();
  };
  script.play([&] {
    EXPECT_TRUE(script.hints("opening clip"));
    arrives = true;
    arrives.notify_all();
    EXPECT_TRUE(script.shows(1));
    EXPECT_TRUE(script.says("TAB: settings    ?: keys")) << "where to begin";
  });
}

TEST(ViewerTest, SettingsThatChangeNothingAreExplained) {
  ViewerScript script;
  script.options.keep_open = true;
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    for (int i = 0; i < 10; ++i) {
      press("Shift+DOWN");
    }
    EXPECT_TRUE(script.hints("nothing is changed: the strength is 0; Shift+UP: raise it"));
    press("Shift+UP");
    for (int i = 0; i < 20; ++i) {
      press("d");
    }
    EXPECT_TRUE(script.hints("nothing is changed: the result is the original; D: less of it"));
  });
}

TEST(ViewerTest, TheNoiseFigureDoesNotDependOnTheStrength) {
  std::array<Statistics, 2> told;
  for (std::size_t i = 0; i < told.size(); ++i) {
    ViewerScript script;
    script.frames = 1;
    script.options.keep_open = true;
    script.picture = oracle::add_noise(oracle::draw_picture(oracle::yuv(128, 96, 1, 1)), 12, 1);
    script.options.format = script.picture.format;
    script.player_options.settings.noise = {};
    script.player_options.settings.noise.strength = i == 0 ? Strength{} : Strength{2, 2};
    told[i] = script.play([&] { EXPECT_TRUE(script.shows(1)); });
  }
  EXPECT_GT(told[0].level.sigma[0], 5);
  EXPECT_EQ(told[0].level, told[1].level);
  EXPECT_EQ(told[0].strength, "");
  EXPECT_EQ(told[1].strength, "2");
}

TEST(ViewerTest, APictureHasNoTransport) {
  ViewerScript script;
  script.frames = 1;
  script.options.keep_open = true;
  script.options.controls = true;
  script.options.still_picture = true;
  script.options.window.size = {1280, 720};
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    EXPECT_TRUE(script.waits([&] { return viewer.controls().items().place("strength").has_value(); }));
    for (const char* const key : {" ", "RIGHT", "I"}) {
      press(key);
    }
    EXPECT_TRUE(script.says("I O X l, drag the handles: not for pictures"));
    EXPECT_FALSE(viewer.player().paused());
    press("?");
    EXPECT_TRUE(script.has("help", "on"));
    for (const char* const control : {"toggle pause", "step -1", "position", "speed", "mark begin"}) {
      EXPECT_FALSE(viewer.controls().items().place(control)) << control;
    }
  });
}

TEST(ViewerTest, TellsNewsAndEndsWhereNobodyNeedsIt) {
  ViewerScript script;
  script.frames = 1 << 20;
  script.player_options.live = true;
  std::atomic<bool> records = false;
  std::atomic<int> asked = 0;
  script.options.toggle_recording = [&] {
    records = true;
    return "recording begins";
  };
  script.options.news = [&] { return records && asked++ == 0 ? News{"the disk is full", true} : News{}; };
  script.options.is_needed = [&] { return asked == 0; };
  Viewer& viewer = script.open();
  EXPECT_TRUE(script.shows(1));
  press("r");
  EXPECT_TRUE(script.says("recording begins"));
  EXPECT_TRUE(script.says("the disk is full"));
  viewer.run({});
}

/// A square of a picture, by its upper left corner.
std::string square(const Frame& picture, int x, int y) {
  constexpr int kSide = 10;
  std::string samples;
  for (int plane = 0; plane < picture.format.plane_count(); ++plane) {
    for (int row = y; row < y + kSide; ++row) {
      const auto* const first = picture.planes[plane].row<std::uint8_t>(row) + x;
      samples.append(first, first + kSide);
    }
  }
  return samples;
}

// Marks with the right button what lies between two places of the window.
void mark(int x0, int y0, int x1, int y1) {
  SDL_Event event{};
  event.type = SDL_MOUSEMOTION;
  event.motion.state = SDL_BUTTON_RMASK;
  event.motion.x = x1;
  event.motion.y = y1;
  event.motion.xrel = x1 - x0;
  event.motion.yrel = y1 - y0;
  SDL_PushEvent(&event);
  event = {};
  event.type = SDL_MOUSEBUTTONUP;
  event.button.button = SDL_BUTTON_RIGHT;
  SDL_PushEvent(&event);
}

TEST(ViewerTest, TakesTheNoiseOfWhatIsMarked) {
  ViewerScript script;
  script.frames = 10'000;
  script.options.window.size = {160, 160};
  // Noise on the left half only; stored on its side, so in the upper half on the screen.
  const FrameFormat format{.width = 160, .height = 160};
  const auto fill = [](const Frame& frame, int x) {
    const Plane& plane = frame.planes[0];
    for (int y = 0; y < plane.height; ++y) {
      std::fill_n(plane.row<std::uint8_t>(y) + x, plane.width - x, std::uint8_t{100});
    }
  };
  const Frame flat = allocate_frame(format);
  fill(flat, 0);
  script.picture = oracle::add_noise(flat, 12, 1);
  fill(script.picture, 80);
  script.options.format = format;
  script.options.display.orientation.transposed = true;
  const Statistics told = script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(script.shows(1));
    press(" ");
    mark(10, 10, 30, 80);
    EXPECT_TRUE(script.says("20x70 marked; 64x64 are needed to measure noise"));
    mark(150, 155, 10, 85);
    EXPECT_TRUE(script.says("no noise was found in the box"));
    const std::int64_t seen = viewer.counters().shown;
    mark(2, 2, 152, 76);
    EXPECT_TRUE(script.says("noise measured in the box"));
    EXPECT_TRUE(script.shows(seen + 1));
  });
  EXPECT_FALSE(told.estimated);
  EXPECT_NEAR(told.level.sigma[0], 12, 1);
}

TEST(ViewerTest, StatisticsComeAndGoByAKey) {
  const test::TemporaryFolder folder;
  ViewerScript script;
  script.frames = 1;
  script.options.keep_open = true;
  script.options.side = Side::kDenoised;
  script.options.picture_folder = folder.path();
  script.play([&] {
    EXPECT_TRUE(script.shows(1));
    for (const char* const key : {"S", "i", "S", "i", "S"}) {
      press(key);
    }
    EXPECT_TRUE(
        script.waits([&] { return std::filesystem::exists(folder.path() / "clip-000000-3-window.png"); }));
  });
  struct Corners {
    std::string statistics;
    std::string label;
  };
  const auto corners = [&](const std::string& name) {
    const Frame window = io::read_clip(folder.path() / name).frames.at(0);
    return Corners{square(window, 6, 6), square(window, 6, window.format.height - 15)};
  };
  const Corners bare = corners("clip-000000-window.png");
  const Corners both = corners("clip-000000-2-window.png");
  const Corners label = corners("clip-000000-3-window.png");
  EXPECT_NE(both.statistics, bare.statistics);
  EXPECT_EQ(label.statistics, bare.statistics);
  EXPECT_EQ(both.label, bare.label);
  EXPECT_EQ(label.label, bare.label);
}

}  // namespace
}  // namespace limpid::app
