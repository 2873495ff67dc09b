// SPDX-License-Identifier: MIT
#include "app/player/viewer_report.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cmath>

#include "app/console/quantity_text.h"
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

bool is_final(const PlayedFrame& frame) {
  const bool is_chosen = filter_settings(frame.used) == filter_settings(frame.settings);
  const auto has_no_better = [&] {
    return frame.used.looks_ahead || live_filter(frame.settings) == offline_filter(frame.settings);
  };
  return !frame.is_waiting && (frame.is_refined || (is_chosen && has_no_better()));
}

std::string result_label(const PlayedFrame& frame, const ResultState& state) {
  const std::string left = state.final_in.value_or(0) >= 1 ? duration_text(std::ceil(*state.final_in)) : "";
  if (frame.is_waiting || state.is_late) {
    return "computing" + (left.empty() ? "" : ", " + left);
  }
  const std::string filter = short_text(filter_settings(frame.used));
  if (state.is_live) {
    const bool is_chosen = filter_settings(frame.used) == filter_settings(frame.settings);
    return is_chosen ? "denoised" : fmt::format("denoised ({})", filter);
  }
  if (is_final(frame)) {
    return "denoised, final";
  }
  const std::string coming = left.empty() ? ", final to come" : ", final in " + left;
  return fmt::format("denoised, draft ({}){}", filter, state.final_in ? coming : "");
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
