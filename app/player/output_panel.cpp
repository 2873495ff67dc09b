// SPDX-License-Identifier: MIT
#include "app/player/output_panel.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <string>

#include "app/console/time_text.h"

namespace limpid::app {

void draw_heading(const char* text) {
  ImGui::Spacing();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", text);
}

void ask_by_key(ControlItems& items, ControlRequests& requests, const char* name, const char* label,
                bool chosen, const char* key, const char* tooltip) {
  if (items.choice(name, label, chosen, tooltip)) {
    requests.keys.emplace_back(key);
  }
}

void OutputPanel::draw_camera() {
  draw_heading("Camera");
  if (!state_.cameras.empty()) {
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("###camera", state_.camera.c_str())) {
      for (std::size_t i = 0; i < state_.cameras.size(); ++i) {
        if (ImGui::Selectable(state_.cameras[i].name.c_str(), false)) {
          requests_.camera = i;
        }
        items_.note(("camera " + std::to_string(i)).c_str(), "Show this camera in this format");
      }
      ImGui::EndCombo();
    } else {
      items_.note("camera", "Camera and format. Key: V");
    }
  }
  ask("loopback", "Loopback", state_.loops_back, "L",
      "Be a camera for other programs, through v4l2loopback. Key: L");
}

void OutputPanel::draw() {
  if (state_.live) {
    draw_camera();
  }
  draw_view();
  draw_pair();
  draw_heading("Output");
  draw_files();
  if (!state_.live) {
    draw_passage();
  }
}

void OutputPanel::draw_files() {
  ask("save settings", "Save settings", false, "Ctrl+S",
      "Write these settings to a file, for --settings. Key: Ctrl+S");
  if (!state_.live) {
    ImGui::SameLine();
    ask("copy command", "Copy command", false, "Ctrl+C",
        "Copy the line that writes this result. Key: Ctrl+C");
  }
}

void OutputPanel::draw_view() {
  draw_heading("View");
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

void OutputPanel::draw_pair() {
  draw_heading("Two settings");
  ask("settings A", "A", !state_.second_settings, "b", "Flip between the settings A and B. Key: b");
  ImGui::SameLine();
  ask("settings B", "B", state_.second_settings, "b", "Flip between the settings A and B. Key: b");
  ImGui::SameLine();
  ask("copy settings", "Copy to the other", false, "B", "Copy these settings to the other. Key: B");
  if (!state_.live) {
    ask("pair", "A | B", state_.side == Side::kPair, "5",
        "A left of the line, B right of it, of the paused picture. Key: 5");
  }
}

void OutputPanel::draw_passage() {
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
  if (!state_.writing) {
    ask("write", passage == Passage{} ? "Write file" : "Write passage", false, "w",
        "Denoise to a file in the background. Key: w");
    return;
  }
  ask("write", "Cancel", false, "w", "Cancel the file that is written. Key: w");
  ImGui::ProgressBar(static_cast<float>(*state_.writing), {-1, 0});
}

}  // namespace limpid::app
