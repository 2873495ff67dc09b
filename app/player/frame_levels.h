// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/player/frame_store.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// Finds the noise levels that `limpid denoise` gives to frames of a file, from the frames that they depend
/// on (NoiseControl::grid()), whatever has been played. Not thread-safe.
class FrameLevels {
 public:
  struct Level {
    NoiseEstimate noise;  ///< as estimated or given
    NoiseModel level;     ///< for the filter
  };

  /// `open` opens the file once more. `engine` measures frames and must outlive this object.
  FrameLevels(std::function<FrameSource()> open, Engine& engine, double frames_per_second)
      : open_(std::move(open)), engine_(engine), frames_per_second_(frames_per_second) {}

  /// The levels of `count` successive frames from the one at `time` on. Fewer at the end of the file, or if
  /// given up.
  std::vector<Level> find(double time, std::size_t count, const NoiseSettings& settings,
                          const FrameStore::GivenUp& given_up);

 private:
  struct Known {
    double time;
    Level level;
  };

  bool can_continue(double time, const NoiseSettings& settings) const;
  void begin(double time, const NoiseSettings& settings, const FrameStore::GivenUp& given_up);
  void send(StoredFrame frame);

  const std::function<FrameSource()> open_;
  Engine& engine_;
  const double frames_per_second_;
  std::optional<FrameSource> source_;
  NoiseSettings settings_;
  std::optional<NoiseControl> control_;
  bool has_ended_ = false;
  double first_time_ = 0;     ///< time of the first frame whose level is that of the whole file
  std::deque<double> times_;  ///< times of the frames whose level is not known yet
  std::deque<Known> known_;   ///< levels of successive frames
};

}  // namespace limpid::app
