// SPDX-License-Identifier: MIT
#pragma once

// Sound at another speed with its pitch kept. Private to io.

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/not_copyable.h"

namespace limpid::io {

/// Changes the speed of interleaved stereo samples and keeps their pitch, by libavfilter's atempo. One thread
/// at a time.
class Tempo : NotCopyable {
 public:
  static constexpr double kSlowest = 0.5;
  static constexpr double kFastest = 2;

  /// `rate`: samples per second and channel.
  explicit Tempo(int rate);
  ~Tempo();

  /// `speed`: kSlowest to kFastest. Another speed drops the samples that have not been returned. Throws Error
  /// if libavfilter refuses.
  void set_speed(double speed);
  double speed() const { return speed_; }
  /// Takes samples, and returns those that are ready.
  std::vector<float> filter(const float* samples, std::size_t count);
  /// Drops the samples that have not been returned.
  void reset();
  /// Their length in seconds, at the speed 1.
  double held() const;

 private:
  struct Graph;
  void begin();

  const int rate_;
  double speed_ = 1;
  std::unique_ptr<Graph> graph_;  ///< null at the speed 1
  double taken_ = 0;              ///< seconds, since the graph was made
  double returned_ = 0;           ///< seconds at the speed 1
};

}  // namespace limpid::io
