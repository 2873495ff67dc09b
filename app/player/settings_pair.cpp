// SPDX-License-Identifier: MIT
#include "app/player/settings_pair.h"

#include <utility>

namespace limpid::app {

std::array<DenoiseSettings, 2> SettingsPair::both(const DenoiseSettings& used) const {
  std::array<DenoiseSettings, 2> both{used, other_.value_or(used)};
  if (second_) {
    std::swap(both[0], both[1]);
  }
  return both;
}

DenoiseSettings SettingsPair::flip(const DenoiseSettings& used) {
  DenoiseSettings other = other_.value_or(used);
  other_ = used;
  second_ = !second_;
  return other;
}

void SettingsPair::keep(const std::shared_ptr<const PlayedFrame>& frame, const DenoiseSettings& used) {
  if (frame->settings == used) {
    results_[second_ ? 1 : 0] = frame;
  }
}

std::shared_ptr<const PlayedFrame> SettingsPair::result(std::size_t which, std::uint64_t sequence,
                                                        const DenoiseSettings& used) const {
  const std::shared_ptr<const PlayedFrame>& result = results_[which];
  const bool is_current =
      result != nullptr && result->sequence == sequence && result->settings == both(used)[which];
  return is_current ? result : nullptr;
}

}  // namespace limpid::app
