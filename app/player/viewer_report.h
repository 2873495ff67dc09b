// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/player/filter_counts.h"
#include "app/player/player.h"

namespace limpid::app {

/// Counts and times of the shown frames, for reports.
struct ViewerReport {
  std::int64_t shown = 0;
  std::int64_t dropped = 0;
  std::int64_t interlaced = 0;  ///< of the frames shown: those filtered by field
  FilterCounts filters;         ///< of the frames shown
  // Empty unless times are kept: a camera may run for days.
  std::vector<double> shown_at;        ///< seconds of the steady clock at which each frame was shown
  std::vector<double> times;           ///< times of these frames in the source
  std::vector<double> latencies;       ///< seconds from decoding to showing these frames
  std::vector<double> ahead_of_sound;  ///< seconds, of the frames that were shown while sound was heard

  /// Counts a frame that is shown `now`.
  void add(const PlayedFrame& frame, Player::Clock::time_point now, bool keeps_times);
};

/// Filter and profile as an option takes them, such as "vbm4d:profile=np".
std::string filter_text(const PlayerSettings& settings);

/// Filter and profile for labels, such as "vbm4d np".
std::string short_text(const FilterSettings& filter);

/// The label of a result: "denoised, final" if `limpid denoise` writes it; "denoised, draft (bilateral)"
/// after a quicker filter, or without the later frames that the filter needs; "computing" if `is_late`:
/// settings that were requested some time ago are to come.
std::string result_label(const PlayedFrame& frame, bool is_late, bool live);

/// Filter and strength, such as "vbm4d np, strength 1.2".
std::string settings_text(const PlayerSettings& settings);

/// "sigma Y 14.0 U 11.2 V 13.1", with the names of the color planes.
std::string sigma_text(const NoiseModel& level, const std::vector<std::string_view>& planes);

}  // namespace limpid::app
