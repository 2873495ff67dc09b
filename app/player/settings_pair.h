// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "app/player/player.h"

namespace limpid::app {

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
};

}  // namespace limpid::app
