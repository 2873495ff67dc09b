// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>

namespace limpid::app {

/// The level of a microphone: the greatest sample of late, 0 to 1. Thread-safe for one writer.
class SoundLevel {
 public:
  /// The greatest sample of the next packet.
  void add(float peak) { level_ = std::max(peak, level_ * kFall); }
  float get() const { return level_; }

 private:
  static constexpr float kFall = 0.8F;
  std::atomic<float> level_ = 0;
};

}  // namespace limpid::app
