// SPDX-License-Identifier: MIT
#include "app/player/settings_panel.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/console/time_text.h"
#include "app/player/noise_plots.h"
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
    draw_view();
    draw_pair();
    if (!state_.live) {
      draw_output();
    }
    if (settings_ != state_.settings) {
      requests_.settings = settings_;
    }
  }

 private:
  void ask(const char* name, const char* label, bool chosen, const char* key, const char* tooltip) {
    if (items_.choice(name, label, chosen, tooltip)) {
      requests_.keys.emplace_back(key);
    }
  }
  static void heading(const char* text) {
    ImGui::Spacing();
    ImGui::TextDisabled("%s", text);
  }

  void draw_strength() {
    heading("Strength");
    items_.slider("strength", "Factor", settings_.noise.strength, 0, kMostShownStrength, "%.2f",
                  "Strength: factor of the noise level. Keys: UP, DOWN");
    for (const auto& [planes, name, label] :
         {std::tuple{PlaneChoice::kAll, "all planes", "All"}, std::tuple{PlaneChoice::kLuma, "luma", "Luma"},
          std::tuple{PlaneChoice::kChroma, "chroma", "Chroma"}}) {
      if (items_.choice(name, label, settings_.noise.planes == planes, "Planes to filter. Key: P")) {
        settings_.noise.planes = planes;
      }
      ImGui::SameLine();
    }
    ImGui::NewLine();
  }

  void draw_noise() {
    heading("Noise");
    const bool estimated = !settings_.noise.noise;
    const bool level = !estimated && !settings_.noise.noise->color_model;
    ask("noise of the clip", "Clip", estimated, "a", "Estimate the noise from the clip. Key: a");
    ImGui::SameLine();
    ask("noise level", "Level", level, "v", "Set the noise level by hand. Keys: v, + and -");
    ImGui::SameLine();
    ask("noise of a region", "Region", !estimated && !level, "n",
        "Measure the noise in a box on the picture. Key: n; or drag with the right mouse button");
    std::string text;
    for (std::size_t plane = 0; plane < state_.planes.size(); ++plane) {
      text +=
          fmt::format("{}{} {:.1f}", plane > 0 ? "   " : "", state_.planes[plane], state_.level.sigma[plane]);
    }
    ImGui::TextUnformatted(text.c_str());
    if (level) {
      draw_levels();
    } else {
      draw_noise_plots(state_.level.plane(0), ImGui::GetContentRegionAvail().x, 56 * items_.scale());
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
    ask("linked", state_.linked ? "Linked" : "Separate", state_.linked, "k",
        "Change the levels of luma and chroma together, or each alone. Key: k");
  }

  void draw_filter() {
    heading("Filter and quality");
    ask("automatic", "Automatic", settings_.keeps_pace, "Q",
        "Use the best filter that keeps pace. Key: Q. The written file uses the filter below");
    if (settings_.keeps_pace) {
      ImGui::SameLine();
      ImGui::AlignTextToFramePadding();
      ImGui::TextDisabled("now %s", state_.used.c_str());
    }
    const float width = ImGui::GetContentRegionAvail().x;
    const std::vector<std::string>& profiles = filter_type(settings_.filter).profiles;
    ImGui::SetNextItemWidth(profiles.empty() ? width : width * 0.6F);
    draw_list("filter", settings_.filter, state_.filters, "Filter. Keys: m, M");
    if (!profiles.empty()) {
      ImGui::SameLine();
      ImGui::SetNextItemWidth(-1);
      draw_list("profile", settings_.profile, profiles, "Profile: quality against speed. Keys: c, C");
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

  void draw_view() {
    heading("View");
    ask("split", "Split", state_.side == Side::kSplit, "3",
        "Noisy left of a line, denoised right of it. Key: 3");
    ImGui::SameLine();
    ask("noisy", "Noisy", state_.side == Side::kNoisy, "1", "Key: 1");
    ImGui::SameLine();
    ask("denoised", "Denoised", state_.side == Side::kDenoised, "2", "Key: 2");
    ask("side by side", "Side by side", state_.side == Side::kSideBySide, "4", "Key: 4");
    ImGui::SameLine();
    ask("difference", "Difference", state_.side == Side::kDifference, "0", "Show the removed noise. Key: 0");
    if (state_.side == Side::kDifference) {
      auto gain = static_cast<float>(state_.gain);
      if (items_.slider("gain", "Gain", gain, 1, 32, "x%.0f", "Gain of the difference. Keys: g, G")) {
        requests_.gain = double{gain};
      }
    }
    for (const int zoom : {0, 1, 2, 4, 8}) {
      const std::string label = zoom == 0 ? "Fit" : fmt::format("{}:1", zoom);
      if (items_.choice(("zoom " + label).c_str(), label.c_str(), state_.zoom == zoom,
                        "Zoom. Keys: z, Z; or the wheel")) {
        requests_.zoom = zoom;
      }
      ImGui::SameLine();
    }
    ImGui::NewLine();
  }

  void draw_pair() {
    heading("Two settings");
    ask("settings A", "A", !state_.second_settings, "b", "Flip between the settings A and B. Key: b");
    ImGui::SameLine();
    ask("settings B", "B", state_.second_settings, "b", "Flip between the settings A and B. Key: b");
    ImGui::SameLine();
    ask("copy settings", "Copy to the other", false, "B", "Copy these settings to the other. Key: B");
  }

  void draw_output() {
    heading("Output");
    const Passage& passage = state_.passage;
    const auto time = [](const std::optional<double>& at, const char* name) {
      return at ? fmt::format("{} {}", name, time_text(*at)) : std::string(name);
    };
    ask("in", time(passage.begin, "In").c_str(), passage.begin.has_value(), "I",
        "Begin of the passage to write: this frame. Key: I");
    ImGui::SameLine();
    ask("out", time(passage.end, "Out").c_str(), passage.end.has_value(), "O",
        "End of the passage to write: this frame. Key: O");
    if (passage != Passage{}) {
      ImGui::SameLine();
      ask("whole file", "All", false, "X", "Write the whole file again. Key: X");
    }
    ask("copy command", "Copy command", false, "Ctrl+C",
        "Copy the line that writes this result. Key: Ctrl+C");
    ImGui::SameLine();
    if (!state_.writing) {
      ask("write", passage == Passage{} ? "Write file" : "Write passage", false, "w",
          "Denoise to a file in the background. Key: w");
      return;
    }
    ask("write", "Cancel", false, "w", "Cancel the file that is written. Key: w");
    ImGui::ProgressBar(static_cast<float>(*state_.writing), {-1, 0});
  }

  const ControlState& state_;
  ControlItems& items_;
  ControlRequests& requests_;
  DenoiseSettings settings_;
};

}  // namespace

void draw_settings(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  SettingsPanel(state, items, requests).draw();
}

}  // namespace limpid::app
