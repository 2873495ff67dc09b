// SPDX-License-Identifier: MIT
#include "app/player/settings_panel.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/player/noise_plots.h"
#include "app/player/output_panel.h"
#include "core/filter/filter.h"

namespace limpid::app {
namespace {

constexpr float kMostShownStrength = 4;
constexpr float kMostShownLevel = 50;

/// The panel, while it is drawn.
class SettingsPanel {
 public:
  SettingsPanel(const ControlState& state, ControlItems& items, ControlRequests& requests)
      : state_(state), items_(items), requests_(requests), settings_(state.settings) {}

  void draw() {
    draw_strength();
    draw_noise();
    draw_filter();
    if (settings_ != state_.settings) {
      requests_.settings = settings_;
    }
  }

 private:
  void ask(const char* name, const char* label, bool chosen, const char* key, const char* tooltip) {
    ask_by_key(items_, requests_, name, label, chosen, key, tooltip);
  }

  void draw_strength() {
    draw_heading("Strength");
    const bool has_chroma = state_.color_model == ColorModel::kYuv;
    if (has_chroma) {
      ImGui::SameLine();
      ask("linked", state_.linked ? "Linked" : "Separate", state_.linked, "k",
          "Change luma and chroma together, or each alone. Key: k");
    }
    Strength& strength = settings_.noise.strength;
    if (items_.slider("strength", has_chroma ? "Luma" : "Factor", strength.luma, 0, kMostShownStrength,
                      "%.2f", "Strength: factor of the noise level. Keys: UP, DOWN") &&
        (state_.linked || !has_chroma)) {
      strength.chroma = strength.luma;
    }
    if (has_chroma &&
        items_.slider("chroma strength", "Chroma", strength.chroma, 0, kMostShownStrength, "%.2f",
                      "Factor of the noise level of chroma. Keys: Shift+UP, Shift+DOWN") &&
        state_.linked) {
      strength.luma = strength.chroma;
    }
    float percent = 100 * settings_.noise.mix;
    if (items_.slider("mix", "Original", percent, 0, 100, "%.0f %%",
                      "Share of the noisy picture in the result. Keys: d, D")) {
      settings_.noise.mix = std::round(percent) / 100;
    }
  }

  void draw_noise() {
    draw_heading("Noise");
    const bool estimated = !settings_.noise.noise;
    const bool level = !estimated && !settings_.noise.noise->color_model;
    ask("noise of the clip", "Clip", estimated, "a", "Estimate the noise from the clip. Key: a");
    ImGui::SameLine();
    ask("noise level", "Level", level, "v", "Set the noise level by hand. Keys: v, + and -");
    ImGui::SameLine();
    ask("noise of a region", "Region", state_.has_box, "n",
        "Measure the noise in a box on a flat part of the picture. Move and resize the box with the mouse. "
        "Key: n; or drag with the right mouse button");
    ImGui::SameLine();
    ask("noise profile", "File", !estimated && !level && !state_.has_box, "N",
        "Use a noise profile or a settings file. Key: N");
    std::string text;
    for (std::size_t plane = 0; plane < state_.planes.size(); ++plane) {
      text +=
          fmt::format("{}{} {:.1f}", plane > 0 ? "   " : "", state_.planes[plane], state_.level.sigma[plane]);
    }
    ImGui::TextUnformatted(text.c_str());
    if (level) {
      draw_levels();
      return;
    }
    draw_noise_plots(state_.level.plane(0), ImGui::GetContentRegionAvail().x, 56 * items_.scale());
    if (state_.has_box) {
      ask("save noise", "Save profile", false, "Ctrl+N",
          "Write the noise profile beside the video, for --noise. Key: Ctrl+N");
    }
  }

  void draw_levels() {
    std::array<float, 3>& sigma = settings_.noise.noise->noise.sigma;
    const bool has_chroma = state_.color_model == ColorModel::kYuv;
    if (items_.slider("luma level", has_chroma ? "Luma" : "Level", sigma[0], 0, kMostShownLevel, "%.1f",
                      "Noise standard deviation in 8-bit code values. Keys: + and -") &&
        (state_.linked || !has_chroma)) {
      sigma[1] = sigma[2] = sigma[0];
    }
    if (!has_chroma) {
      return;
    }
    if (items_.slider("chroma level", "Chroma", sigma[1], 0, kMostShownLevel, "%.1f",
                      "Noise standard deviation of chroma in 8-bit code values. Keys: ( and )")) {
      sigma[2] = sigma[1];
      if (state_.linked) {
        sigma[0] = sigma[1];
      }
    }
  }

  void draw_filter() {
    draw_heading("Filter and quality");
    ask("automatic", "Automatic", settings_.keeps_pace, "Q",
        "Use the best filter that keeps pace. Key: Q. The written file uses the filter below");
    if (settings_.keeps_pace) {
      ImGui::SameLine();
      ImGui::AlignTextToFramePadding();
      ImGui::TextDisabled("%s", state_.used.c_str());
    }
    const float width = ImGui::GetContentRegionAvail().x;
    const std::vector<std::string>& profiles = filter_type(settings_.filter.name).profiles;
    ImGui::SetNextItemWidth(profiles.empty() ? width : width * 0.6F);
    draw_list("filter", settings_.filter.name, state_.filters, "Filter. Keys: m, M");
    if (!profiles.empty()) {
      ImGui::SameLine();
      ImGui::SetNextItemWidth(-1);
      std::string profile = settings_.filter.profile.value_or("");
      draw_list("profile", profile, profiles, "Profile: quality against speed. Keys: c, C");
      settings_.filter.profile = profile;
    }
  }

  void draw_list(const char* name, std::string& value, const std::vector<std::string>& choices,
                 const char* tooltip) {
    const bool open = ImGui::BeginCombo(fmt::format("###{}", name).c_str(), value.c_str());
    if (!open) {
      items_.note(name, tooltip);
      return;
    }
    for (const std::string& each : choices) {
      if (ImGui::Selectable(each.c_str(), each == value)) {
        value = each;
      }
      items_.note((std::string(name) + " " + each).c_str(), tooltip);
    }
    ImGui::EndCombo();
  }

  const ControlState& state_;
  ControlItems& items_;
  ControlRequests& requests_;
  PlayerSettings settings_;
};

}  // namespace

void draw_settings(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  SettingsPanel(state, items, requests).draw();
  OutputPanel(state, items, requests).draw();
}

}  // namespace limpid::app
