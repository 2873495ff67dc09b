// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace limpid::app {

/// Measured quality and speed of a filter with its default settings. tests/app/commands compares the values
/// with tests/benchmarks/results.
struct FilterFigures {
  std::string_view filter;
  std::optional<double> video_psnr;    ///< dB, luma of seven clips at sigma 20 (video_quality.json)
  std::optional<double> picture_psnr;  ///< dB, twelve pictures at sigma 25 (cpu_filter_quality.json)
  std::optional<double> gpu_ms;        ///< 1080p luma on an NVIDIA H200 (cuda_*_h200.json)
  std::optional<double> cpu_ms;        ///< 1080p luma on 32 Xeon cores (cpu_tables_xeon_32_cores.json)
};

/// Empty figures for filters that were not measured.
FilterFigures figures_of(std::string_view filter);

/// The sources of the figures, for a footer.
extern const char* const kFigureSources;

}  // namespace limpid::app
