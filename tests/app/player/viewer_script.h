// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/options/settings_options.h"
#include "app/player/viewer.h"
#include "core/engines.h"
#include "tests/oracle/pictures.h"

namespace limpid::app {

using namespace std::chrono_literals;

/// Frames per second of the clips in the windows of tests.
inline constexpr double kRate = 100;

/// Pushes the events of a key, by its name in WindowEvent::key.
inline void press(const std::string& key) {
  SDL_Event event{};
  static const std::map<std::string, SDL_Keycode> names{
      {"LEFT", SDLK_LEFT}, {"RIGHT", SDLK_RIGHT},         {"UP", SDLK_UP},       {"DOWN", SDLK_DOWN},
      {"END", SDLK_END},   {"ESC", SDLK_ESCAPE},          {"TAB", SDLK_TAB},     {"ENTER", SDLK_RETURN},
      {"HOME", SDLK_HOME}, {"BACKSPACE", SDLK_BACKSPACE}, {"PGUP", SDLK_PAGEUP}, {"PGDN", SDLK_PAGEDOWN}};
  const std::string plain = key.starts_with("Shift+") ? key.substr(6) : key;
  if (const auto held = names.find(key.starts_with("Ctrl+") ? key.substr(5) : ""); held != names.end()) {
    event.type = SDL_KEYDOWN;
    event.key.keysym.mod = KMOD_CTRL;
    event.key.keysym.sym = held->second;
  } else if (key.starts_with("Ctrl+")) {
    event.type = SDL_KEYDOWN;
    event.key.keysym.mod = KMOD_CTRL;
    event.key.keysym.sym = SDLK_a + key.back() - 'A';
  } else if (const auto name = names.find(plain); name != names.end()) {
    event.type = SDL_KEYDOWN;
    event.key.keysym.sym = name->second;
    event.key.keysym.mod = plain == key ? KMOD_NONE : KMOD_LSHIFT;
  } else {
    event.type = SDL_TEXTINPUT;
    std::strcpy(event.text.text, key.c_str());
  }
  SDL_PushEvent(&event);
}

/// Pushes the events of a key that is held, which SDL repeats.
inline void hold(SDL_Keycode code, const char* text, int times) {
  for (int i = 0; i < times; ++i) {
    SDL_Event event{};
    event.type = SDL_KEYDOWN;
    event.key.keysym.sym = code;
    event.key.repeat = i > 0 ? 1 : 0;
    SDL_PushEvent(&event);
    if (text != nullptr) {
      press(text);
    }
  }
  SDL_Event release{};
  release.type = SDL_KEYUP;
  release.key.keysym.sym = code;
  SDL_PushEvent(&release);
}

/// Keeps what is logged while it lives, instead of printing it.
class DebugLog {
 public:
  DebugLog() {
    lines_->set_pattern("%v");
    auto logger = std::make_shared<spdlog::logger>("test", lines_);
    logger->set_level(spdlog::level::debug);
    spdlog::set_default_logger(std::move(logger));
  }
  DebugLog(const DebugLog&) = delete;
  DebugLog& operator=(const DebugLog&) = delete;
  ~DebugLog() { spdlog::set_default_logger(before_); }

  /// All lines that are kept.
  std::vector<std::string> lines() const { return lines_->last_formatted(); }
  /// How many lines have that in them.
  int count(const std::string& part) const {
    const std::vector<std::string> lines = lines_->last_formatted();
    return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    }));
  }
  /// Waits for so many; false if they don't come.
  bool says(const std::string& part, int times = 1) const {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end) {
      if (count(part) >= times) {
        return true;
      }
      std::this_thread::sleep_for(2ms);
    }
    return false;
  }

 private:
  static constexpr std::size_t kLines = 4000;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> lines_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kLines);
};

/// A window on `frames` frames and somebody who uses it: the window does its work while something is waited
/// for.
class ViewerScript {
 public:
  ViewerOptions options;
  PlayerStages stages;
  PlayerOptions player_options;
  int frames = 5;
  Frame picture;  // of all frames

  ViewerScript() {
    setenv("SDL_VIDEODRIVER", "offscreen", 1);
    const FrameFormat format = oracle::yuv(32, 24, 1, 1);
    picture = oracle::draw_picture(format);
    stages.read = [this]() -> io::Reader::Item {
      if (next_ >= frames) {
        return io::Reader::End{};
      }
      Frame frame = picture;
      frame.index = next_++;
      return frame;
    };
    stages.seek = [this](double seconds, double before, const auto&...) {
      next_ = std::clamp(static_cast<int>(std::lround((seconds - before) * kRate)), 0, frames);
    };
    stages.engine = engine_registry().open("cpu", EngineOptions{1});
    stages.make_denoiser = [this](const PlayerSettings&, const Frame& frame, const NoiseModel& level) {
      return stages.engine->make_denoiser(FilterText("bilateral").filter(), level, frame.format);
    };
    options.source = "clip";
    options.format = format;
    options.filters = {"bm3d", "bilateral"};
    options.duration = frames / kRate;
    options.window = {.title = "clip", .size = {320, 240}, .fixed = true, .vsync = false};
    player_options.frames_per_second = kRate;
    player_options.duration = options.duration;
    player_options.settings.filter = {.name = "bm3d", .profile = "np", .parameters = {}};
    player_options.settings.noise.noise = NoiseProfile{NoiseModel{{5, 5, 5}}, std::nullopt};
  }

  /// Opens the window. It exists until the end of the script.
  Viewer& open() {
    viewer_ = std::make_unique<Viewer>(options, stages, player_options);
    return *viewer_;
  }
  Viewer& viewer() { return *viewer_; }
  /// Lets `user` use the window, and closes it. Returns the statistics then.
  template <typename User>
  Statistics play(const User& user) {
    open();
    if constexpr (std::is_invocable_v<User, Viewer&>) {
      user(*viewer_);
    } else {
      user();
    }
    press("q");
    viewer_->run({});
    const Statistics statistics = viewer_->statistics();
    viewer_.reset();
    return statistics;
  }

  /// Lets the window work until `is_true`; false if that takes too long, or if the window closes.
  template <typename Condition>
  bool waits(const Condition& is_true) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    bool goes_on = true;
    while (!is_true()) {
      if (!goes_on || std::chrono::steady_clock::now() >= end) {
        return false;
      }
      goes_on = viewer_->step({}, 5ms);
    }
    return true;
  }
  /// Lets the window work for a time.
  void rests(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    waits([end] { return std::chrono::steady_clock::now() >= end; });
  }
  /// Lets the window handle all events that were pushed.
  void settles() {
    for (int i = 0; i < 4; ++i) {
      viewer_->step({}, 5ms);
    }
  }
  bool shows(std::int64_t count) {
    return waits([&] { return viewer_->counters().shown >= count; });
  }
  template <typename Count>
  bool reaches(const std::atomic<Count>& count, Count value) {
    return waits([&] { return count >= value; });
  }
  /// A notice or hint with that text.
  bool says(const std::string& part) {
    return waits([&] { return viewer_->notice_text().find(part) != std::string::npos; });
  }
  bool hints(const std::string& part) {
    return waits([&] { return viewer_->state().hint.find(part) != std::string::npos; });
  }
  /// The labels of the pictures, with " | " between two of them.
  std::string label() const {
    const auto [first, second] = viewer_->labels();
    return second.empty() ? first : first + " | " + second;
  }
  bool labels(const std::string& text) {
    return waits([&] { return viewer_->shown() != nullptr && label().find(text) != std::string::npos; });
  }
  bool has(const std::string& property, const std::string& value) {
    return waits([&] { return viewer_->text(property) == value; });
  }

 private:
  int next_ = 0;
  std::unique_ptr<Viewer> viewer_;
};

}  // namespace limpid::app
