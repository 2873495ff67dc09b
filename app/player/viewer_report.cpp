// SPDX-License-Identifier: MIT
#include "app/player/viewer_report.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>

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

std::string settings_text(const PlayerSettings& settings) {
  const std::string mix =
      settings.noise.mix > 0 ? fmt::format(", {:.0f} % of the original", 100 * settings.noise.mix) : "";
  return fmt::format("{}, strength {}{}", filter_text(settings), to_string(settings.noise.strength), mix);
}

std::string sigma_text(const NoiseModel& level, const std::vector<std::string_view>& planes) {
  std::string text = "sigma";
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    text += fmt::format(" {} {:.1f}", planes[plane], level.sigma[plane]);
  }
  return text;
}

}  // namespace limpid::app
