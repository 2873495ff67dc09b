// SPDX-License-Identifier: MIT
#include "app/player/settings_pair.h"

#include <utility>

namespace limpid::app {

std::array<PlayerSettings, 2> SettingsPair::both(const PlayerSettings& used) const {
  std::array<PlayerSettings, 2> both{used, other_.value_or(used)};
  if (second_) {
    std::swap(both[0], both[1]);
  }
  return both;
}

PlayerSettings SettingsPair::flip(const PlayerSettings& used) {
  PlayerSettings other = other_.value_or(used);
  other_ = used;
  second_ = !second_;
  return other;
}

std::optional<PlayerSettings> SettingsPair::restore(const PlayerSettings& used) {
  if (second_ == choice_) {
    return std::nullopt;
  }
  requested_ = flip(used);
  return requested_;
}

SettingsPair::Comparison SettingsPair::compare(const std::shared_ptr<const PlayedFrame>& shown,
                                               const PlayerSettings& used) {
  Comparison comparison;
  const std::size_t own = second_ ? 1 : 0;
  if (shown->settings == used) {
    if (result(own, shown->sequence, used) != shown) {
      keep(shown, used);
      comparison.has_result = true;
    }
    comparison.is_complete = result(1 - own, shown->sequence, used) != nullptr;
    if (comparison.is_complete && second_ == choice_) {
      return comparison;
    }
  } else if (requested_ == used) {
    return comparison;  // under way
  }
  comparison.next = requested_ = flip(used);
  return comparison;
}

void SettingsPair::keep(const std::shared_ptr<const PlayedFrame>& frame, const PlayerSettings& used) {
  if (frame->settings == used) {
    results_[second_ ? 1 : 0] = frame;
  }
}

std::shared_ptr<const PlayedFrame> SettingsPair::result(std::size_t which, std::uint64_t sequence,
                                                        const PlayerSettings& used) const {
  const std::shared_ptr<const PlayedFrame>& result = results_[which];
  const bool is_current =
      result != nullptr && result->sequence == sequence && result->settings == both(used)[which];
  return is_current ? result : nullptr;
}

}  // namespace limpid::app
