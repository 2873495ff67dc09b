// SPDX-License-Identifier: MIT
#include "app/player/viewer_report.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>

#include "app/pipeline/noise_text.h"
#include "core/filter/filter.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {

void ViewerReport::add(const PlayedFrame& frame, Player::Clock::time_point now, bool keeps_times) {
  using Seconds = std::chrono::duration<double>;
  ++shown;
  interlaced += frame.noisy.interlaced ? 1 : 0;
  ++filters[filter_text(frame.used)];
  if (keeps_times) {
    shown_at.push_back(Seconds(now.time_since_epoch()).count());
    times.push_back(frame.time);
    latencies.push_back(Seconds(now - frame.decoded_at).count());
  }
}

std::string filter_text(const PlayerSettings& settings) {
  FilterSettings filter = filter_settings(settings);
  filter.parameters.clear();
  return to_string(filter);
}

std::string short_text(const FilterSettings& filter) {
  return filter.profile ? filter.name + " " + *filter.profile : filter.name;
}

std::string result_label(const PlayedFrame& frame, bool is_late, bool live) {
  if (frame.is_waiting || is_late) {
    return "computing";
  }
  const bool is_chosen = filter_settings(frame.used) == filter_settings(frame.settings);
  if (live && is_chosen) {
    return "denoised";
  }
  const auto has_no_better = [&] {
    return frame.used.looks_ahead || live_filter(frame.settings) == offline_filter(frame.settings);
  };
  if (!live && (frame.is_refined || (is_chosen && has_no_better()))) {
    return "denoised, final";
  }
  return fmt::format("denoised, draft ({})", short_text(filter_settings(frame.used)));
}

std::string settings_text(const PlayerSettings& settings) {
  const std::string mix =
      settings.noise.mix > 0 ? fmt::format(", {:.0f} % of the original", 100 * settings.noise.mix) : "";
  return fmt::format("{}, strength {}{}", short_text(filter_settings(settings)),
                     to_string(settings.noise.strength), mix);
}

std::string sigma_text(const NoiseModel& level, const std::vector<std::string_view>& planes) {
  std::string text = "sigma";
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    text += fmt::format(" {} {}", planes[plane], level_text(level.sigma[plane]));
  }
  return text;
}

}  // namespace limpid::app
