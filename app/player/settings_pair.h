// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "app/player/played_frame.h"

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

/// The settings A and B of a window, of which one is in use, and their results for one frame.
class SettingsPair {
 public:
  /// True if B is in use.
  bool second() const { return second_; }
  /// True if there are two settings.
  bool is_complete() const { return other_.has_value(); }
  /// Both settings, A first, given those in use.
  std::array<PlayerSettings, 2> both(const PlayerSettings& used) const;

  /// Uses the other settings, which are returned.
  PlayerSettings flip(const PlayerSettings& used);
  /// Makes the other settings equal to those in use.
  void copy(const PlayerSettings& used) { other_ = used; }

  // The view of both: the player denoises the paused picture with A and with B, one after the other.

  /// Begins the view of both.
  void begin_comparison() {
    choice_ = second_;
    requested_.reset();  // frames with these settings may not come while paused
  }
  /// True if the user has chosen B; the comparison changes the settings in use.
  bool choice() const { return choice_; }
  void choose() { choice_ = second_; }
  /// The user has requested these settings.
  void note_request(const PlayerSettings& settings) { requested_ = settings; }
  /// The settings that the user has chosen, if those in use are the others.
  std::optional<PlayerSettings> restore(const PlayerSettings& used);
  struct Comparison {
    std::optional<PlayerSettings> next;  ///< settings to request
    bool has_result = false;             ///< the frame is a new result
    bool is_complete = false;            ///< both results exist
  };
  /// The next step, given the shown frame.
  Comparison compare(const std::shared_ptr<const PlayedFrame>& shown, const PlayerSettings& used);

  /// Keeps a denoised frame as the result of its settings.
  void keep(const std::shared_ptr<const PlayedFrame>& frame, const PlayerSettings& used);
  /// The result of A (0) or B (1) for the frame of this number (PlayedFrame::sequence); null if there is none
  /// yet.
  std::shared_ptr<const PlayedFrame> result(std::size_t which, std::uint64_t sequence,
                                            const PlayerSettings& used) const;

 private:
  std::optional<PlayerSettings> other_;
  bool second_ = false;
  std::array<std::shared_ptr<const PlayedFrame>, 2> results_;
  bool choice_ = false;                      ///< see choice()
  std::optional<PlayerSettings> requested_;  ///< the last ones
};

}  // namespace limpid::app
