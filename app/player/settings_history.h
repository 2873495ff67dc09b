// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "app/player/player_settings.h"

namespace limpid::app {

/// Earlier and later settings, for undo and redo.
class SettingsHistory {
 public:
  /// Keeps settings that are to be replaced. All changes of one gesture, such as a drag, are one step.
  /// `gesture`: its number; 0 for a change that is a step of its own.
  void add(const PlayerSettings& before, std::uint64_t gesture) {
    later_.clear();
    if (gesture == 0 || std::exchange(gesture_, gesture) != gesture) {
      earlier_.push_back(before);
    }
    constexpr std::size_t kMost = 200;
    if (earlier_.size() > kMost) {
      earlier_.pop_front();
    }
  }
  /// The settings before the last step, or after the step that was undone last; nothing if there is none.
  std::optional<PlayerSettings> undo(const PlayerSettings& now) { return step(earlier_, later_, now); }
  std::optional<PlayerSettings> redo(const PlayerSettings& now) { return step(later_, earlier_, now); }

 private:
  using Steps = std::deque<PlayerSettings>;

  std::optional<PlayerSettings> step(Steps& from, Steps& to, const PlayerSettings& now) {
    if (from.empty()) {
      return std::nullopt;
    }
    to.push_back(now);
    PlayerSettings settings = std::move(from.back());
    from.pop_back();
    gesture_ = 0;
    return settings;
  }

  Steps earlier_;
  Steps later_;
  std::uint64_t gesture_ = 0;
};

}  // namespace limpid::app
