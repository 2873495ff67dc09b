// SPDX-License-Identifier: MIT
#include "app/player/settings_panel.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/pipeline/noise_text.h"
#include "app/player/noise_plots.h"
#include "app/player/output_panel.h"
#include "app/player/viewer_report.h"
#include "core/filter/filter.h"

namespace limpid::app {
namespace {

constexpr float kMostShownStrength = 4;
constexpr float kMostStrength = 10;
constexpr float kMostShownLevel = 50;

struct NamedStrength {
  const char* name;
  float strength;
};
constexpr std::array<NamedStrength, 3> kStrengths{{{"Light", 0.7F}, {"Medium", 1.0F}, {"Strong", 1.4F}}};

struct NamedQuality {
  const char* name;
  const char* word;  ///< one of quality_words(), of the default filter
};
constexpr std::array<NamedQuality, 3> kQualities{{{"High", "high"}, {"Good", "good"}, {"Fast", "fast"}}};

/// The tab, while it is drawn.
class SettingsPanel {
 public:
  SettingsPanel(const ControlState& state, ControlItems& items, ControlRequests& requests)
      : state_(state),
        items_(items),
        requests_(requests),
        settings_(state.settings),
        has_chroma_(state.color_model == ColorModel::kYuv) {}

  void draw() {
    draw_strength();
    draw_noise();
    draw_quality();
    request();
  }

  void draw_named_strengths() {
    draw_words();
    request();
  }

  void draw_row(float words) {
    ImGui::BeginChild("slider", {ImGui::GetContentRegionAvail().x - words, 0}, false, ImGuiWindowFlags_NoNav);
    draw_main_strength("Strength");
    ImGui::EndChild();
    if (words > 0) {
      ImGui::SameLine();
      draw_words();
    }
    request();
  }

 private:
  void ask(const char* name, const char* label, bool chosen, const char* key, const char* tooltip) {
    ask_by_key(items_, requests_, name, label, chosen, key, tooltip);
  }
  void request() {
    if (settings_ != state_.settings) {
      requests_.settings = settings_;
    }
  }

  void draw_main_strength(const char* label) {
    Strength& strength = settings_.noise.strength;
    if (items_.value(
            "strength", label, strength.luma, {0, kMostShownStrength, kMostStrength, 1, 2, ""},
            "Factor of the noise level. A double click resets it to 1. Keys: Shift+UP, Shift+DOWN")) {
      follow_luma();
    }
  }
  void follow_luma() {
    Strength& strength = settings_.noise.strength;
    strength.chroma = state_.linked || !has_chroma_ ? strength.luma : strength.chroma;
  }

  void draw_words() {
    for (const auto& [name, factor] : kStrengths) {
      const std::string tooltip = fmt::format("Strength {:.1f}", factor);
      if (items_.choice(fmt::format("strength {}", name).c_str(), name,
                        std::abs(settings_.noise.strength.luma - factor) < 0.005F, tooltip.c_str())) {
        settings_.noise.strength.luma = factor;
        follow_luma();
      }
      ImGui::SameLine();
    }
  }

  void draw_strength() {
    Strength& strength = settings_.noise.strength;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2{8 * items_.scale(), 9 * items_.scale()});
    draw_main_strength("Strength");
    ImGui::PopStyleVar();
    draw_words();
    if (has_chroma_) {
      ask("linked", "Linked", state_.linked, "k", "Change luma and chroma together, or each alone. Key: k");
    } else {
      ImGui::NewLine();
    }
    if (has_chroma_ &&
        items_.value("chroma strength", "Chroma", strength.chroma,
                     {0, kMostShownStrength, kMostStrength, state_.linked ? 1 : strength.luma, 2, ""},
                     "Factor of the noise level of chroma. Keys: Ctrl+UP, Ctrl+DOWN") &&
        state_.linked) {
      strength.luma = strength.chroma;
    }
    float percent = 100 * settings_.noise.mix;
    if (items_.value("mix", "Original", percent, {0, 100, 100, 0, 0, " %"},
                     "Share of the noisy picture in the result. Keys: d, D")) {
      settings_.noise.mix = std::round(percent) / 100;
    }
  }

  void draw_noise() {
    draw_heading("Noise from");
    const bool estimated = !settings_.noise.noise;
    const bool level = !estimated && !settings_.noise.noise->color_model;
    ask("noise of the clip", state_.still_picture ? "Picture" : "Whole clip", estimated, "a",
        "Estimate the noise from the whole picture. Key: a");
    ImGui::SameLine();
    ask("noise level", "Number", level, "v", "Set the noise level by hand. Keys: v, + and -");
    ImGui::SameLine();
    ask("noise of a region", "Area", state_.has_box, "n",
        "Measure the noise in a box on a flat part of the picture. Move and resize the box with the mouse. "
        "Key: n; or drag with the right mouse button");
    ImGui::SameLine();
    ask("noise profile", "File", !estimated && !level && !state_.has_box, "N",
        "Use a noise profile or a settings file. Key: N");
    if (level) {
      draw_levels();
      return;
    }
    std::string text;
    for (std::size_t plane = 0; plane < state_.planes.size(); ++plane) {
      text += fmt::format("{}{} {}", plane > 0 ? "  " : "", state_.planes[plane],
                          level_text(state_.noise.sigma[plane]));
    }
    text += (state_.evidence.empty() ? "" : "   ") + state_.evidence;
    ImGui::TextWrapped("%s", text.c_str());
    items_.note("noise", "Noise standard deviation in 8-bit code values, without the strength");
    const bool is_open = ImGui::CollapsingHeader("Curve and spectrum");
    items_.note("plots", "");
    if (is_open) {
      draw_noise_plots(state_.noise.plane(0), ImGui::GetContentRegionAvail().x, 64 * items_.scale());
    }
  }

  void draw_levels() {
    std::array<float, 3>& sigma = settings_.noise.noise->noise.sigma;
    const ValueRange range{0, kMostShownLevel, kMaxSigma, 0, 1, ""};
    if (items_.value("luma level", has_chroma_ ? "Luma" : "Level", sigma[0], range,
                     "Noise standard deviation in 8-bit code values. Keys: + and -") &&
        (state_.linked || !has_chroma_)) {
      sigma[1] = sigma[2] = sigma[0];
    }
    if (has_chroma_ &&
        items_.value("chroma level", "Chroma", sigma[1], range,
                     "Noise standard deviation of chroma in 8-bit code values. Keys: ( and )")) {
      sigma[2] = sigma[1];
      if (state_.linked) {
        sigma[0] = sigma[1];
      }
    }
  }

  void draw_quality() {
    draw_heading("Quality");
    FilterSettings& filter = settings_.filter;
    const std::string wanted(default_filter(state_.still_picture));
    for (const auto& [name, word] : kQualities) {
      const std::string profile = profile_for(filter_type(wanted).profiles, word);
      const bool exists = std::ranges::find(state_.filters, wanted) != state_.filters.end();
      const std::string tooltip = fmt::format("{}, quality {}. Keys: e, c", wanted, word);
      if (exists && items_.choice(fmt::format("quality {}", name).c_str(), name,
                                  filter.name == wanted && filter.profile == profile, tooltip.c_str())) {
        filter.name = wanted;
        filter.profile = profile;
      }
      ImGui::SameLine();
    }
    if (state_.still_picture) {
      ImGui::NewLine();
    } else {
      ask("automatic", "Keep pace", settings_.keeps_pace, "Q",
          "While playing, use a quicker filter where this one is too slow. The written file uses this one. "
          "Key: Q");
    }
    const std::string chosen = short_text(filter_settings(settings_));
    const std::string now = state_.used == chosen ? "" : "; now " + state_.used;
    const std::string& help = filter_type(filter.name).help;
    const std::size_t purpose = help.find(": ");
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_Text, 0.75F));
    ImGui::TextWrapped("%s%s", chosen.c_str(), now.c_str());
    ImGui::TextWrapped("%s", help.substr(purpose == std::string::npos ? 0 : purpose + 2).c_str());
    ImGui::PopStyleColor();
    const bool is_open = ImGui::CollapsingHeader("All filters");
    items_.note("all filters", "");
    if (is_open) {
      draw_filters();
    }
  }

  void draw_filters() {
    const float width = ImGui::GetContentRegionAvail().x;
    const std::vector<std::string>& profiles = filter_type(settings_.filter.name).profiles;
    ImGui::SetNextItemWidth(profiles.empty() ? width : width * 0.6F);
    draw_list("filter", settings_.filter.name, state_.filters, "Filter. Keys: e, E");
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
      const bool is_chosen = each == value;
      if (ImGui::Selectable(each.c_str(), is_chosen)) {
        value = each;
      }
      if (is_chosen) {
        ImGui::SetItemDefaultFocus();
      }
      items_.note((std::string(name) + " " + each).c_str(), "");
    }
    ImGui::EndCombo();
  }

  const ControlState& state_;
  ControlItems& items_;
  ControlRequests& requests_;
  PlayerSettings settings_;
  bool has_chroma_;
};

}  // namespace

void draw_settings(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  SettingsPanel(state, items, requests).draw();
  draw_view(state, items, requests);
}

void draw_strength_row(const ControlState& state, bool names, ControlItems& items,
                       ControlRequests& requests) {
  constexpr float kWords = 200;  // width of their buttons, in units of 1/96 inch
  SettingsPanel(state, items, requests).draw_row(names ? kWords * items.scale() : 0);
}

void draw_strength_words(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  SettingsPanel(state, items, requests).draw_named_strengths();
}

}  // namespace limpid::app
