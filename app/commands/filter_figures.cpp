// SPDX-License-Identifier: MIT
#include "app/commands/filter_figures.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "app/console/text.h"

namespace limpid::app {
namespace {

// The rows are ordered by filter, and from the quickest profile to the best.
constexpr std::array kFigures = std::to_array<FilterFigures>({
    {"vbm4d", "fast", 33.16, {}, 0.772, 0.24},
    {"vbm4d", "lc", 33.45, {}, 0.917, 0.34},
    {"vbm4d", "np", 33.78, {}, 2.177, 1},
    {"vbm4d", "high", 34.15, {}, 7.225, 3.4},
    {"vnlb", "fast", 32.91, {}, 7.518, 2.4},
    {"vnlb", "np", 33.90, {}, 18.73, 4.9},
    {"vnlb", "high", 34.23, {}, 20.13, 5},
    {"vnlb", "best", 34.37, {}, 26.96, 7},
    {"recursive", "fast", 31.68, {}, {}, 0.033},
    {"recursive", "np", 32.02, {}, {}, 0.048},
    {"bm3d", "fast", 29.56, {}, {}, 0.089},
    {"bm3d", "np", 30.08, 29.12, 2.76, 0.79},
    {"nlm", "", {}, 28.01, 0.488, 0.12},
    {"nlm-bilateral", "", {}, 27.73, 0.464, 0.12},
    {"bilateral", "", {}, 26.93, 0.051, 0.011},
    {"adaptive-bilateral", "", {}, 26.93, 0.116, 0.025},
});

/// "; with --quality fast about 16 min, and 0.6 dB less on the test clips". Empty if no profile is quicker.
std::string quicker_text(const ProgressState& state, const ProfileInUse& used, double left) {
  const FilterFigures* const own = figures_of(used.filter, used.profile);
  const FilterFigures* const quick = quickest_profile(used.filter);
  if (own == nullptr || quick == nullptr || own == quick) {
    return "";
  }
  const std::optional<double>& own_ms = state.on_device ? own->gpu_ms : own->cpu_time;
  const std::optional<double>& quick_ms = state.on_device ? quick->gpu_ms : quick->cpu_time;
  if (!own_ms || !quick_ms) {
    return "";
  }
  return fmt::format("; with --quality {} about {}, and {:.1f} dB less on the test clips", quick->profile,
                     duration_text(left * *quick_ms / *own_ms),
                     own->video_psnr.value_or(0) - quick->video_psnr.value_or(0));
}

}  // namespace

const char* const kFigureSources =
    "video: mean PSNR in dB of seven clips, luma, noise of sigma 20. pictures: mean PSNR in dB of twelve "
    "pictures, noise of sigma 25 (20.34 dB before denoising). GPU: milliseconds per frame of 1080p luma on "
    "one NVIDIA H200 (bilateral filters: radius 5; non-local means: windows of 21x21). CPU: time on one "
    "thread relative to vbm4d, which filters 3.4 frames of 1080p (4:2:0) per second on 8 threads, and 10.8 "
    "with the quality fast. Source: bench/results.md.";

const FilterFigures* figures_of(std::string_view filter, std::string_view profile) {
  const auto* const found = std::ranges::find_if(
      kFigures, [&](const FilterFigures& each) { return each.filter == filter && each.profile == profile; });
  return found == kFigures.end() ? nullptr : found;
}

const FilterFigures* quickest_profile(std::string_view filter) {
  const auto* const found = std::ranges::find(kFigures, filter, &FilterFigures::filter);
  return found == kFigures.end() ? nullptr : found;
}

std::string outlook_text(const ProgressState& state, const ProfileInUse& used) {
  constexpr double kLongRun = 60;
  constexpr double kMostOfTheTime = 0.8;
  const double left = state.eta();
  if (left < 0 || state.elapsed + left < kLongRun) {
    return "";
  }
  const bool is_denoising = state.busy[1] >= kMostOfTheTime;
  return fmt::format("about {} left{}", duration_text(left),
                     is_denoising ? quicker_text(state, used, left) : "");
}

}  // namespace limpid::app
