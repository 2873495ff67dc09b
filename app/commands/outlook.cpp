// SPDX-License-Identifier: MIT
#include "app/commands/outlook.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

#include "app/commands/filter_figures.h"
#include "app/console/quantity_text.h"

namespace limpid::app {
namespace {

/// "; with --profile fast about 16 min, and 0.6 dB less on the test clips". Empty if no profile is quicker.
std::string quicker_text(const ProgressState& state, const ProfileInUse& used, double left) {
  const ProfileFigures* const own = figures_of(used.filter, used.profile);
  const ProfileFigures* const quick = quickest_profile(used.filter);
  if (own == nullptr || quick == nullptr || own == quick) {
    return "";
  }
  const std::optional<double>& own_ms = state.on_device ? own->gpu_ms : own->cpu_time;
  const std::optional<double>& quick_ms = state.on_device ? quick->gpu_ms : quick->cpu_time;
  if (!own_ms || !quick_ms) {
    return "";
  }
  return fmt::format("; with --profile {} about {}, and {:.1f} dB less on the test clips", quick->profile,
                     duration_text(left * *quick_ms / *own_ms), own->video_psnr - quick->video_psnr);
}

}  // namespace

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
