// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/commands/progress.h"

namespace limpid::app {

/// Measured quality and speed of a profile of a filter. tests/app/commands compares the values with
/// bench/results.
struct FilterFigures {
  std::string_view filter;
  std::string_view profile;            ///< empty: the filter has none
  std::optional<double> video_psnr;    ///< dB, luma of seven clips at sigma 20 (video_quality.json)
  std::optional<double> picture_psnr;  ///< dB, twelve pictures at sigma 25 (cpu_filter_quality.json)
  std::optional<double> gpu_ms;        ///< 1080p luma on an NVIDIA H200 (cuda_*_h200.json)
  std::optional<double> cpu_time;      ///< on one thread, relative to the default filter (cpu_filters.json)
};

/// Null for profiles that were not measured.
const FilterFigures* figures_of(std::string_view filter, std::string_view profile);

/// The profile of `filter` that takes the least time. Null for filters without measured profiles.
const FilterFigures* quickest_profile(std::string_view filter);

/// The sources of the figures, for a footer.
extern const char* const kFigureSources;

/// The profile of a run.
struct ProfileInUse {
  std::string filter;
  std::string profile;
};

/// The time left of a run that takes more than a minute, and the time with the filter's quickest profile if
/// denoising takes most of the time: "about 57 min left; with --quality fast about 16 min, and 0.6 dB less on
/// the test clips". Empty for shorter runs, and if the number of frames is not known.
std::string outlook_text(const ProgressState& state, const ProfileInUse& used);

}  // namespace limpid::app
