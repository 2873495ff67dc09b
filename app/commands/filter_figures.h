// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace limpid::app {

/// Measured quality and speed of a filter with its default settings. tests/app/commands compares the values
/// with bench/results.
struct FilterFigures {
  std::string_view filter;
  std::optional<double> video_psnr;    ///< dB, luma of seven clips at sigma 20 (video_quality.json)
  std::optional<double> picture_psnr;  ///< dB, twelve pictures at sigma 25 (cpu_filter_quality.json)
  std::optional<double> gpu_ms;        ///< 1080p luma on an NVIDIA H200 (cuda_*_h200.json)
  std::optional<double> cpu_time;      ///< on one thread, relative to the default filter (cpu_filters.json)
};

/// Quality and speed of a profile, to compare profiles of one filter.
struct ProfileFigures {
  std::string_view filter;
  std::string_view profile;
  double video_psnr;  ///< as in FilterFigures
  std::optional<double> gpu_ms;
  std::optional<double> cpu_time;
};

/// Empty figures for filters that were not measured.
FilterFigures figures_of(std::string_view filter);

/// Null for profiles that were not measured.
const ProfileFigures* figures_of(std::string_view filter, std::string_view profile);

/// The profile of `filter` that takes the least time. Null for filters without measured profiles.
const ProfileFigures* quickest_profile(std::string_view filter);

/// The sources of the figures, for a footer.
extern const char* const kFigureSources;

}  // namespace limpid::app
