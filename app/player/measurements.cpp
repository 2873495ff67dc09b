// SPDX-License-Identifier: MIT
#include "app/player/measurements.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "app/console/process.h"
#include "app/console/text.h"
#include "app/pipeline/noise_text.h"
#include "app/player/properties.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/settings/noise_settings.h"
#include "io/screen/display.h"

namespace limpid::app {

std::string to_text(const FilterCounts& counts) {
  std::string text;
  for (const auto& [filter, frames] : counts) {
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", frames, filter);
  }
  return text;
}

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
  if (frame.refined_part) {
    const char* const place = state.view_is_final ? "in view"
                              : state.has_line    ? "beside the line"
                                                  : "in a part";
    return fmt::format("denoised, final {}{}", place, left.empty() ? "" : "; the rest in " + left);
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

void PlaybackRates::measure(const Totals& totals, const Playing& playing) {
  if (last_) {
    const double span = std::chrono::duration<double>(totals.at - last_->at).count();
    // Work is counted when it is done, and may have begun before.
    const auto share = [span](std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
      return std::clamp(std::chrono::duration<double>(to - from).count() / span, 0.0, 1.0);
    };
    loads_ = {.reading = share(last_->reading, totals.reading),
              .denoising = share(last_->denoising, totals.denoising),
              .presenting = share(last_->presenting, totals.presenting)};
    shown_fps_ = static_cast<double>(totals.shown - last_->shown) / span;
    denoised_fps_ = static_cast<double>(totals.denoised - last_->denoised) / span;
    // A live source may have fewer frames than it declares.
    const bool is_busy = is_denoising_slow() || (!playing.live && loads_->reading > kFewer);
    const bool is_slow = playing.runs && is_busy && shown_fps_ < kFewer * playing.frames_per_second;
    slow_in_a_row_ = is_slow ? slow_in_a_row_ + 1 : 0;
  }
  last_ = totals;
}

void Measurements::add(const PlayedFrame& frame, std::optional<double> heard) {
  constexpr double kShare = 0.1;
  const Time now = Player::Clock::now();
  const double latency = std::chrono::duration<double>(now - frame.decoded_at).count();
  latency_ += (report_.shown == 0 ? 1 : kShare) * (latency - latency_);
  report_.add(frame, now, options_.keep_times);
  if (options_.keep_times && heard) {
    report_.ahead_of_sound.push_back(frame.time - *heard);
  }
}

bool Measurements::measure(const Player& player, bool runs, Time now) {
  if (!rates_.is_due(now)) {
    return false;
  }
  const PlayerCounters& counters = player.counters();
  using std::chrono::nanoseconds;
  rates_.measure({.at = now,
                  .shown = counters.shown,
                  .denoised = counters.denoise.frames,
                  .reading = nanoseconds(counters.read.busy_ns),
                  .denoising = nanoseconds(counters.denoise.busy_ns) + player.at_work(),
                  .presenting = nanoseconds(presenting_.busy_ns)},
                 {.frames_per_second = player_options_.frames_per_second * player.speed(),
                  .runs = runs,
                  .live = player_options_.live});
  return true;
}

Statistics Measurements::statistics(const Player& player, const PlayedFrame& shown) const {
  const PlayerCounters& counters = player.counters();
  Statistics statistics;
  statistics.source = options_.source;
  statistics.format = limpid::to_string(options_.format) + "  " +
                      io::to_string(options_.display, options_.format.color_model) +
                      (shown.noisy.interlaced ? "  by field" : "");
  statistics.engine = options_.engine;
  statistics.duration = options_.duration;
  statistics.frame = shown.noisy.index;
  statistics.source_fps = options_.still_picture ? 0 : player_options_.frames_per_second;
  statistics.shown_fps = rates_.shown_fps();
  statistics.denoise_fps = rates_.denoised_fps();
  statistics.denoise_fps_alone = rates_.denoised_fps_alone();
  statistics.dropped = counters.dropped_before + counters.dropped_after;
  statistics.live = player_options_.live;
  statistics.latency = player_options_.live ? latency_ : player.turnaround();
  const PlayerSettings& settings = shown.settings;
  // The settings of the shown frame; a refined frame has the requested ones.
  const PlayerSettings& used = shown.is_refined ? settings : shown.used;
  const FilterSettings filter = filter_settings(used);
  statistics.filter = filter.name;
  statistics.profile = filter.profile.value_or("");
  statistics.keeps_pace = settings.keeps_pace;
  for (const std::string_view plane : color_plane_names(options_.format)) {
    statistics.planes.emplace_back(plane);
  }
  statistics.level = shown.noise;
  const Strength& strength = settings.noise.strength;
  statistics.strength = strength == Strength() ? "" : limpid::to_string(strength);
  statistics.noise_shape = noise_remark(shown.noise, options_.format.color_model);
  statistics.estimated = !settings.noise.noise;
  if (rates_.loads()) {
    if (!player_options_.live) {  // reading a live source is mostly waiting
      statistics.loads.push_back({"decode", rates_.loads()->reading});
    }
    statistics.loads.push_back({"denoise", rates_.loads()->denoising});
    statistics.loads.push_back({"present", rates_.loads()->presenting});
  }
  return statistics;
}

std::string Measurements::slowness(const Player& player) const {
  if (!rates_.is_slow()) {
    return "";
  }
  const double speed = player_options_.live ? 1 : player.speed();
  const std::string figures = fmt::format("too slow: {:.0f} of {:.0f} frames a second shown",
                                          rates_.shown_fps(), player_options_.frames_per_second * speed);
  const std::string advice = player_options_.live ? "" : "; pause for the final picture";
  if (!rates_.is_decoding_slow()) {
    return figures + advice + pace_hint(player.settings());
  }
  return fmt::format("{}; reading takes {:.0f} % of the time{}{}", figures, 100 * rates_.loads()->reading,
                     are_processors_shared() ? ", and other programs use the processors" : "", advice);
}

std::string noise_remark(const NoiseEstimate& noise, ColorModel color_model) {
  const std::string shape = shape_text(noise, color_model);
  const std::string evidence = evidence_text(noise);
  return shape + (shape.empty() || evidence.empty() ? "" : ", ") + evidence;
}

std::string pace_hint(const PlayerSettings& settings) {
  return settings.keeps_pace ? "" : fmt::format("; {}: automatic quality", key_of("toggle pace"));
}

std::string noise_hint(const PlayedFrame& shown) {
  const NoiseSettings& settings = shown.settings.noise;
  constexpr float kHardly = 0.5F;
  const auto is_below = [](const NoiseModel& noise, float limit) {
    return std::ranges::all_of(noise.sigma, [limit](float sigma) { return sigma <= limit; });
  };
  if (settings.mix >= 1) {
    return fmt::format("nothing is changed: the result is the original; {}: less of it",
                       key_of("add original -5"));
  }
  if (settings.strength.luma <= 0 && settings.strength.chroma <= 0) {
    return fmt::format("nothing is changed: the strength is 0; {}: raise it", key_of("add strength 0.1"));
  }
  if (settings.noise) {
    return is_below(shown.noise, 0) ? fmt::format("nothing is changed: the noise level is 0; {}: raise it",
                                                  key_of("add level 0.5"))
                                    : "";
  }
  if (!is_below(shown.noise, kHardly)) {
    return "";
  }
  const std::string evidence = evidence_text(shown.noise);
  const std::string reason = evidence.empty() ? "" : " (" + evidence + ")";
  const std::string level_keys = key_of("add level 0.5");
  return is_below(shown.noise, 0)
             ? fmt::format("no noise found{}, nothing is changed; {}: denoise all the same", reason,
                           level_keys)
             : fmt::format("hardly any noise{}; {}, {}: denoise more", reason, key_of("add strength 0.1"),
                           level_keys);
}

}  // namespace limpid::app
