// SPDX-License-Identifier: MIT
#include "app/player/output_panel.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "app/console/quantity_text.h"

namespace limpid::app {

namespace {

constexpr ImU32 kHeadingInk = IM_COL32(166, 200, 255, 255);

/// The state, the controls and the requests of a part of the panel.
class PanelPart {
 public:
  PanelPart(const ControlState& state, ControlItems& items, ControlRequests& requests)
      : state_(state), items_(items), requests_(requests) {}

  void draw_camera();
  void draw_microphone();
  void draw_sides();
  void draw_looks();
  void draw_zoom();
  void draw_pair();
  void draw_passage();
  void draw_files();
  void draw_write();

 private:
  void ask(const char* name, const char* label, bool chosen, const char* key, const char* tooltip) {
    ask_by_key(items_, requests_, name, label, chosen, key, tooltip);
  }

  const ControlState& state_;
  ControlItems& items_;
  ControlRequests& requests_;
};

void PanelPart::draw_camera() {
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
  ask("loopback", "Be a camera for meetings", state_.loops_back, "L",
      "Other programs receive the denoised video, through v4l2loopback or PipeWire. Key: L");
  draw_microphone();
}

void PanelPart::draw_microphone() {
  if (state_.microphones.empty() && !state_.sound_level) {
    return;
  }
  draw_heading("Microphone");
  ImGui::SetNextItemWidth(-1);
  const auto used = std::ranges::find(state_.microphones, state_.microphone, &io::Microphone::id);
  const std::string name = used != state_.microphones.end() ? used->name : state_.microphone;
  if (ImGui::BeginCombo("###microphone", name.empty() ? "none" : name.c_str())) {
    for (std::size_t i = 0; i < state_.microphones.size(); ++i) {
      const io::Microphone& each = state_.microphones[i];
      if (ImGui::Selectable((each.name + "###" + each.id).c_str(), each.id == state_.microphone)) {
        requests_.microphone = i;
      }
      items_.note(("microphone " + each.id).c_str(), "");
    }
    ImGui::EndCombo();
  } else {
    items_.note("microphone", "Microphone for recordings. The camera is opened again");
  }
  if (state_.sound_level) {
    // Decibels below full scale.
    constexpr float kLeast = -60;
    const float level = 20 * std::log10(std::max(*state_.sound_level, 1e-3F));
    ImGui::ProgressBar(1 - level / kLeast, {-1, 0}, fmt::format("level {:.0f} dB", level).c_str());
    items_.note("level", "Level of the microphone, in decibels below the greatest");
  }
}

void PanelPart::draw_sides() {
  ask("split", "Split", state_.side == Side::kSplit, "3",
      "Noisy left of a line, denoised right of it. Key: 3");
  ImGui::SameLine();
  ask("noisy", "Noisy", state_.side == Side::kNoisy, "1", "Key: 1");
  ImGui::SameLine();
  ask("denoised", "Denoised", state_.side == Side::kDenoised, "2", "Key: 2");
  ask("side by side", "Side by side", state_.side == Side::kSideBySide, "4", "Key: 4");
  ImGui::SameLine();
  ask("difference", "Difference", state_.side == Side::kDifference, "6", "Show the removed noise. Key: 6");
  if (state_.side == Side::kDifference) {
    auto gain = static_cast<float>(state_.gain);
    if (items_.value("gain", "Gain", gain, {1, 32, 32, 4, 0, ""}, "Gain of the difference. Keys: g, G")) {
      requests_.gain = double{gain};
    }
  }
}

void PanelPart::draw_looks() {
  ask("swap", "Swap sides", state_.swapped, "x", "Denoised left of the line, noisy right of it. Key: x");
  ImGui::SameLine();
  ask("mirror", "Mirror", state_.mirrored, "h",
      "Exchange left and right of both pictures, in this window only. Key: h");
  ImGui::SameLine();
  ask("pixels", "Pixels", state_.pixels, "P",
      "Values of the pixel below the pointer, noisy and denoised. Key: P");
}

void PanelPart::draw_zoom() {
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

void PanelPart::draw_pair() {
  ask("settings A", "A", !state_.second_settings, "b", "Flip between the settings A and B. Key: b");
  ImGui::SameLine();
  ask("settings B", "B", state_.second_settings, "b", "Flip between the settings A and B. Key: b");
  ImGui::SameLine();
  ask("copy settings", state_.second_settings ? "Copy to A" : "Copy to B", false, "B",
      "Copy these settings to the other. Key: B");
  if (!state_.live) {
    ImGui::SameLine();
    ask("pair", "A | B", state_.side == Side::kPair, "5",
        "A left of the line, B right of it, of the paused picture. Key: 5");
  }
}

void PanelPart::draw_passage() {
  draw_heading("Passage to write or repeat");
  const Passage& passage = state_.passage;
  const auto time = [](const std::optional<double>& at, const char* name) {
    return at ? fmt::format("{} {}", name, time_text(*at)) : std::string(name);
  };
  ask("in", time(passage.begin, "In").c_str(), passage.begin.has_value(), "I",
      "Begin of the passage: this frame. Key: I");
  ImGui::SameLine();
  ask("out", time(passage.end, "Out").c_str(), passage.end.has_value(), "O",
      "End of the passage: this frame. Key: O");
  if (passage != Passage{}) {
    ImGui::SameLine();
    ask("whole file", "All", false, "X", "The whole file again. Key: X");
  } else {
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("the whole file");
  }
}

void PanelPart::draw_files() {
  draw_heading("Files");
  ask("save settings", "Save settings", false, "Ctrl+S",
      "Write these settings to a file, for --settings. Key: Ctrl+S");
  ImGui::SameLine();
  ask("save noise", "Save noise", false, "Ctrl+N",
      "Write the noise of the area beside the video, for --noise. Key: Ctrl+N");
  ask("save pictures", "Save pictures", false, "s", "Write this picture, noisy and denoised. Key: s");
}

void PanelPart::draw_write() {
  ImGui::Separator();
  const bool writes = state_.writing.has_value();
  ImGui::BeginDisabled(writes);
  ask("write", state_.passage == Passage{} ? "Write file" : "Write passage", false, "w",
      "Denoise to a file in the background. Key: w");
  ImGui::EndDisabled();
  ImGui::SameLine();
  ask("copy command", "Copy command", false, "Ctrl+C", "Copy the line that writes this result. Key: Ctrl+C");
  if (writes) {
    draw_progress(state_, 0, items_, requests_);
  }
}

}  // namespace

void draw_heading(const char* text) {
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, kHeadingInk);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

void ask_by_key(ControlItems& items, ControlRequests& requests, const char* name, const char* label,
                bool chosen, const char* key, const char* tooltip) {
  if (items.choice(name, label, chosen, tooltip)) {
    requests.keys.emplace_back(key);
  }
}

void draw_progress(const ControlState& state, float width, ControlItems& items, ControlRequests& requests) {
  const float cancel = ImGui::CalcTextSize("Cancel").x + 2 * ImGui::GetStyle().FramePadding.x;
  const float whole = width > 0 ? width : ImGui::GetContentRegionAvail().x;
  ImGui::ProgressBar(static_cast<float>(*state.writing),
                     {whole - cancel - ImGui::GetStyle().ItemSpacing.x, 0},
                     fmt::format("writing {:.0f} %", 100 * *state.writing).c_str());
  items.note("progress", state.written.c_str());
  ImGui::SameLine();
  ask_by_key(items, requests, "cancel", "Cancel", false, "W",
             "Cancel the file, and keep what is written so far. Key: W");
}

void draw_view(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  PanelPart part(state, items, requests);
  draw_heading("View");
  part.draw_sides();
  part.draw_looks();
  part.draw_zoom();
  part.draw_pair();
}

void draw_output(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  PanelPart part(state, items, requests);
  if (state.live) {
    part.draw_camera();
  } else if (!state.still_picture) {
    part.draw_passage();
  }
  part.draw_files();
}

void draw_write_row(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  PanelPart(state, items, requests).draw_write();
}

float write_row_height(const ControlState& state) {
  const float row = ImGui::GetFrameHeightWithSpacing();
  return (state.writing ? 2 * row : row) + ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace limpid::app
