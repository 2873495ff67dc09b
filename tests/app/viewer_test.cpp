// The window with all its threads in one process, where the sanitizers see them, without a screen.
#include "app/viewer.h"

#include <SDL.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
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
  static const std::map<std::string, SDL_Keycode> names{{"LEFT", SDLK_LEFT}, {"RIGHT", SDLK_RIGHT},
                                                        {"UP", SDLK_UP},     {"DOWN", SDLK_DOWN},
                                                        {"END", SDLK_END},   {"ESC", SDLK_ESCAPE}};
  if (const auto name = names.find(key); name != names.end()) {
    event.type = SDL_KEYDOWN;
    event.key.keysym.sym = name->second;
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
  constexpr std::array kNames = {"m", "c", "a", "+", "-", "UP", "DOWN", "0",    "1",     "2",   "3", "z", "Z",
                                 "i", "?", " ", ".", ",", "[",  "]",    "LEFT", "RIGHT", "END", "l", "|"};
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
  stages.seek = [&](double seconds, double /*before*/, const std::function<bool()>&) {
    next = std::max<std::int64_t>(0, std::llround(seconds * kRate));
  };
  stages.engine = engine;
  stages.make_denoiser = [&](const DenoiseSettings& settings, const Frame& frame, const NoiseLevel& level) {
    const std::string options =
        settings.filter == "bm3d" ? ":profile=" + std::string(to_string(settings.profile)) : "";
    return engine->make_denoiser(FilterText(settings.filter + options).filter(), level, frame.format);
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

/// A window on `frames` frames and somebody who presses keys.
class ViewerScript {
 public:
  ViewerOptions options;
  PlayerStages stages;
  PlayerOptions player_options;
  int frames = 5;

  ViewerScript() {
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    setenv("SDL_RENDER_DRIVER", "software", 1);
    const FrameFormat format = oracle::yuv(32, 24, 1, 1);
    stages.read = [this, picture = oracle::draw_picture(format)]() -> io::Reader::Item {
      if (next_ >= frames) {
        return io::Reader::End{};
      }
      Frame frame = picture;
      frame.index = next_++;
      return frame;
    };
    stages.seek = [this](double seconds, double, const std::function<bool()>&) {
      next_ = static_cast<int>(std::lround(seconds * kRate));
    };
    stages.engine = EngineRegistry::instance().open("cpu", EngineOptions{1});
    stages.make_denoiser = [this](const DenoiseSettings&, const Frame& frame, const NoiseLevel& level) {
      return stages.engine->make_denoiser(FilterText("bilateral").filter(), level, frame.format);
    };
    options.source = "clip";
    options.format = format;
    options.filters = {"bm3d", "bilateral"};
    options.duration = frames / kRate;
    options.window = {.title = "clip", .size = {320, 240}, .fixed = true, .vsync = false};
    player_options.frames_per_second = kRate;
    player_options.duration = options.duration;
    player_options.settings.sigma = NoiseLevel{{5, 5, 5}};
  }

  /// Shows until `user` has returned and `q` is pressed.
  void play(const std::function<void(const Viewer&)>& user) {
    Viewer viewer(options, stages, player_options);
    std::jthread thread([&] {
      user(viewer);
      press("q");
    });
    viewer.run({});
  }

  /// Waits until so many frames have been shown; false if they aren't.
  static bool shows(const Viewer& viewer, std::int64_t frames) {
    return reaches(viewer.counters().shown, frames);
  }
  template <typename Count>
  static bool reaches(const std::atomic<Count>& count, Count value) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (count < value && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(500us);
    }
    return count >= value;
  }

 private:
  int next_ = 0;
};

/// Is never done with a frame unless it is told to end.
class NeverDone final : public Denoiser {
 public:
  explicit NeverDone(std::atomic<int>& begun) : begun_(begun) {}
  void set_noise(const NoiseLevel& /*noise*/) override {}
  void send(Frame /*frame*/) override {}
  std::optional<Frame> receive() override {
    ++begun_;
    cancelled_.wait(false);
    return std::nullopt;
  }
  void cancel() override {
    cancelled_ = true;
    cancelled_.notify_all();
  }
  void flush() override {}
  std::vector<std::string> warnings() const override { return {}; }
  int latency() const override { return 0; }

 private:
  std::atomic<int>& begun_;
  std::atomic<bool> cancelled_ = false;
};

TEST(ViewerTest, AQuickerFilterHelpsBeforeTheFirstFrameIsDenoised) {
  ViewerScript script;
  std::atomic<int> begun = 0;
  script.options.keep_open = true;
  script.stages.make_denoiser = [&begun, make = script.stages.make_denoiser](
                                    const DenoiseSettings& settings, const Frame& frame,
                                    const NoiseLevel& level) -> std::unique_ptr<Denoiser> {
    return settings.filter == "bm3d" ? std::make_unique<NeverDone>(begun) : make(settings, frame, level);
  };
  script.play([&](const Viewer& viewer) {
    EXPECT_TRUE(ViewerScript::reaches(begun, 1));
    for (const char* const key : {"?", "?", "s", "0", "1", "2", "3", "z", "Z", "c"}) {
      press(key);  // there is nothing of a denoised frame yet
    }
    EXPECT_TRUE(ViewerScript::reaches(begun, 2)) << "with the other profile";
    press("m");
    EXPECT_TRUE(ViewerScript::shows(viewer, 1));
  });
}

TEST(ViewerTest, GoesOnFromTheBeginningAndKeepsTheWindowWhenItLeavesTheFullScreen) {
  ViewerScript script;
  script.options.keep_open = true;
  script.play([&](const Viewer& viewer) {
    // Some may be dropped, but not the first and the last.
    EXPECT_TRUE(ViewerScript::shows(viewer, 2));
    std::int64_t seen = viewer.counters().shown;
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (viewer.counters().shown < script.frames + 2 && std::chrono::steady_clock::now() < end) {
      if (viewer.counters().shown == seen) {
        press("f");
        press("ESC");
        press(" ");
        std::this_thread::sleep_for(20ms);
      }
      seen = viewer.counters().shown;
    }
    EXPECT_GE(viewer.counters().shown, script.frames + 2);
    press("END");
  });
}

}  // namespace
}  // namespace limpid::app
