// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
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

/// What a label says beside the frame.
struct ResultState {
  bool is_live = false;
  bool is_late = false;  ///< settings that were requested some time ago are to come
  std::optional<double>
      final_in;  ///< seconds until the result of `limpid denoise`, if it will come; 0: unknown
};

/// The label of a result: "denoised, final" if `limpid denoise` writes it; "denoised, draft (bilateral)"
/// after a quicker filter, or without the later frames that the filter needs, and "final in 12 s" if it will
/// come; "denoised" for cameras, with the filter if it is not the chosen one; "computing" before there is a
/// result.
std::string result_label(const PlayedFrame& frame, const ResultState& state);
/// True if `limpid denoise` writes this result.
bool is_final(const PlayedFrame& frame);

/// Filter and strength, such as "vbm4d np, strength 1.2".
std::string settings_text(const PlayerSettings& settings);

/// "sigma Y 14.0 U 11.2 V 13.1", with the names of the color planes.
std::string sigma_text(const NoiseModel& level, const std::vector<std::string_view>& planes);

}  // namespace limpid::app
