// The window with all its threads in one process, where the sanitizers see them, without a screen.
#include "app/viewer.h"

#include <SDL.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/filter_options.h"
#include "tests/core/oracle/pictures.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

constexpr double kRate = 100;

void press(const std::string& key) {
  SDL_Event event{};
  if (key == "LEFT" || key == "RIGHT" || key == "UP" || key == "DOWN") {
    event.type = SDL_KEYDOWN;
    event.key.keysym.sym = key == "LEFT"    ? SDLK_LEFT
                           : key == "RIGHT" ? SDLK_RIGHT
                           : key == "UP"    ? SDLK_UP
                                            : SDLK_DOWN;
  } else {
    event.type = SDL_TEXTINPUT;
    std::strcpy(event.text.text, key.c_str());
  }
  SDL_PushEvent(&event);
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

// A thousand keys at random; the frames that play are so small that every filter keeps up.
TEST(ViewerTest, KeysAtRandomLeakNothing) {
  constexpr int kKeys = 1000;
  constexpr std::array kNames = {"m", "c", "a", "+", "-", "UP", "DOWN", "0", "1", "2",    "3",
                                 "z", "Z", "i", "?", " ", ".",  ",",    "[", "]", "LEFT", "RIGHT"};
  setenv("SDL_VIDEODRIVER", "dummy", 1);
  setenv("SDL_RENDER_DRIVER", "software", 1);
  const FrameFormat format = oracle::yuv(32, 24, 1, 1);
  std::vector<Frame> clip;
  for (int i = 0; i < 4; ++i) {
    clip.push_back(oracle::add_noise(oracle::draw_picture(format), 15, static_cast<std::uint64_t>(i)));
  }
  const std::shared_ptr<Engine> engine = EngineRegistry::instance().open("cpu", EngineOptions{2});
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
  stages.seek = [&](double seconds) { next = std::max<std::int64_t>(0, std::llround(seconds * kRate)); };
  stages.engine = engine;
  stages.make_denoiser = [&](const DenoiseSettings& settings, const Frame& frame, const NoiseLevel& level) {
    const std::string options = settings.filter == "bm3d" && settings.profile
                                    ? ":profile=" + std::string(to_string(*settings.profile))
                                    : "";
    return engine->make_denoiser(FilterText(settings.filter + options).filter(level), level, frame.format);
  };
  ViewerOptions options;
  options.source = "clip";
  options.format = format;
  options.engine = engine->name();
  options.filters.assign(kFilterNames.begin(), kFilterNames.end());
  options.window = {.title = "clip", .size = {640, 480}, .fixed = true, .vsync = false};
  PlayerOptions player_options;
  player_options.frames_per_second = kRate;
  player_options.duration = 60;

  const auto play = [&](int keys, std::int64_t frames) {
    Viewer viewer(options, stages, player_options);
    std::jthread user([&] {
      std::mt19937 random(5);
      const auto end = std::chrono::steady_clock::now() + 60s;  // a slow machine gets more keys, if need be
      for (int key = 0;
           key < keys || (viewer.counters().shown < frames && std::chrono::steady_clock::now() < end);
           ++key) {
        const std::int64_t shown = viewer.counters().shown;
        press(kNames[random() % kNames.size()]);
        // On to the next with the next frame; there may be none, as it may be paused.
        const auto patience = std::chrono::steady_clock::now() + 3ms;
        while (viewer.counters().shown == shown && std::chrono::steady_clock::now() < patience) {
          std::this_thread::sleep_for(200us);
        }
      }
      press("q");
    });
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

}  // namespace
}  // namespace limpid::app
