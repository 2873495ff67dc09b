// SPDX-License-Identifier: MIT
#include "app/player/settings_editor.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/player/viewer_report.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

constexpr float kMostStrengthStep = 10;

// The next step of sigma from `value`, finer where it is small.
float step_sigma(float value, int direction) {
  const float probe = direction > 0 ? value : value - 0.01F;
  const float step = probe < 5 ? 0.5F : probe < 20 ? 1 : probe < 50 ? 2 : 5;
  const float stepped = direction > 0 ? (std::floor(value / step + 0.001F) + 1) * step
                                      : (std::ceil(value / step - 0.001F) - 1) * step;
  return std::clamp(stepped, 0.0F, kMaxSigma);
}

// The next multiple of 1 / `steps`.
float step_share(float value, float steps, int direction, float most) {
  return std::clamp((std::round(value * steps) + static_cast<float>(direction)) / steps, 0.0F, most);
}

// The entry of a list that follows another one, in either direction, from its end to its beginning.
const std::string& neighbor(const std::vector<std::string>& list, const std::string& entry, int direction) {
  const auto place = std::find(list.begin(), list.end(), entry) - list.begin();
  const auto count = static_cast<std::ptrdiff_t>(list.size());
  return list[static_cast<std::size_t>((place + direction + count) % count)];
}

}  // namespace

SettingsEditor::Edit SettingsEditor::strength(PlayerSettings settings, int direction, bool luma,
                                              bool chroma) const {
  constexpr float kSteps = 10;  // to 1
  Strength& strength = settings.noise.strength;
  const bool together = linked_ || color_model_ != ColorModel::kYuv;
  if (luma || together) {
    strength.luma = step_share(strength.luma, kSteps, direction, kMostStrengthStep);
  }
  if (together) {
    strength.chroma = strength.luma;
  } else if (chroma) {
    strength.chroma = step_share(strength.chroma, kSteps, direction, kMostStrengthStep);
  }
  std::string text = "strength " + to_string(strength);
  return {std::move(settings), std::move(text)};
}

SettingsEditor::Edit SettingsEditor::mix(PlayerSettings settings, int direction) const {
  constexpr float kSteps = 20;  // to 1
  settings.noise.mix = step_share(settings.noise.mix, kSteps, direction, 1);
  std::string text = fmt::format("{:.0f} % of the original in the result", 100 * settings.noise.mix);
  return {std::move(settings), std::move(text)};
}

SettingsEditor::Edit SettingsEditor::level_by_hand(PlayerSettings settings,
                                                   const NoiseModel& estimate) const {
  settings.noise.noise = NoiseProfile{NoiseModel{estimate.sigma}, std::nullopt};
  std::string text = sigma_text(settings.noise.noise->noise, color_plane_names(color_model_));
  return {std::move(settings), std::move(text)};
}

SettingsEditor::Edit SettingsEditor::level(PlayerSettings settings, const NoiseModel& estimate, int direction,
                                           bool luma, bool chroma) const {
  // No frame may have been shown yet with a level by hand.
  const bool by_hand = settings.noise.noise && !settings.noise.noise->color_model;
  NoiseModel level{by_hand ? settings.noise.noise->noise.sigma : estimate.sigma};
  const auto step = [&](float& sigma) { sigma = step_sigma(sigma, direction); };
  if (luma) {
    step(level.sigma[0]);
  }
  if (chroma) {
    step(level.sigma[1]);
    step(level.sigma[2]);
  }
  return level_by_hand(std::move(settings), level);
}

SettingsEditor::Edit SettingsEditor::profile(PlayerSettings settings, int direction) const {
  const std::vector<std::string>& profiles = filter_type(settings.filter.name).profiles;
  if (profiles.empty()) {
    std::string text = settings.filter.name + " has no profiles";
    return {std::move(settings), std::move(text)};
  }
  std::string profile = neighbor(profiles, settings.filter.profile.value_or(""), direction);
  settings.filter.profile = profile;
  return {std::move(settings), "profile " + profile};
}

SettingsEditor::Edit SettingsEditor::filter(PlayerSettings settings, int direction) const {
  std::string name =
      filters_.size() < 2 ? settings.filter.name : neighbor(filters_, settings.filter.name, direction);
  settings.filter.name = name;
  return {std::move(settings), (filters_.size() < 2 ? "there is no filter but " : "filter ") + name};
}

SettingsEditor::Edit SettingsEditor::estimated_level(PlayerSettings settings) const {
  settings.noise.noise.reset();
  return {std::move(settings), "noise estimated from the clip"};
}

SettingsEditor::Edit SettingsEditor::pace(PlayerSettings settings) const {
  settings.keeps_pace = !settings.keeps_pace;
  std::string text =
      settings.keeps_pace ? "quality: automatic, keeps pace" : "quality: always " + filter_text(settings);
  return {std::move(settings), std::move(text)};
}

SettingsEditor::Edit SettingsEditor::step(const std::optional<PlayerSettings>& settings,
                                          const PlayerSettings& used, const std::string& word) {
  return settings ? Edit{*settings, word + ": " + settings_text(*settings)}
                  : Edit{used, "nothing to " + word};
}

}  // namespace limpid::app
