// SPDX-License-Identifier: MIT
#include "app/player/seek_bar.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/console/quantity_text.h"
#include "app/player/output_panel.h"
#include "app/player/settings_panel.h"

namespace limpid::app {
namespace {

constexpr ImU32 kBarGround = IM_COL32(0, 0, 0, 190);
constexpr ImU32 kBarTrack = IM_COL32(255, 255, 255, 60);
constexpr ImU32 kBarPlayed = IM_COL32(80, 150, 250, 255);
constexpr ImU32 kBarPassage = IM_COL32(250, 200, 60, 150);
constexpr ImU32 kBarHandle = IM_COL32(250, 200, 60, 220);
constexpr ImU32 kBarKnob = IM_COL32(255, 255, 255, 255);
constexpr ImU32 kRecording = IM_COL32(200, 30, 30, 255);
constexpr ImU32 kBarTime = IM_COL32(20, 20, 22, 240);

/// Windows at least that wide have a button for loops.
constexpr double kLoopWidth = 860;
/// Height of the time line.
constexpr float kTimeLine = 18;

/// A handle of the passage, above the track of the time line.
struct PassageHandle {
  const char* name;
  const char* tooltip;
  std::optional<double> Passage::*end;
};

// Handles for the begin and the end of the passage. The time of the handle that is held, if one is.
std::optional<double> draw_handles(const ControlState& state, ImVec2 at, float width, ControlItems& items,
                                   ControlRequests& requests) {
  static constexpr std::array<PassageHandle, 2> kHandles{
      {{"passage begin", "Begin of the passage to write or repeat. Keys: I, l", &Passage::begin},
       {"passage end", "End of the passage to write or repeat. Keys: O, l", &Passage::end}}};
  constexpr double kLeastLength = 0.04;
  const float s = items.scale();
  std::optional<double> held;
  for (const PassageHandle& handle : kHandles) {
    const bool is_end = handle.end == &Passage::end;
    const double time = (state.passage.*handle.end).value_or(is_end ? state.duration : 0);
    const float x = at.x + width * static_cast<float>(std::clamp(time / state.duration, 0.0, 1.0));
    const ImVec2 size{9 * s, 9 * s};
    const float left = std::clamp(is_end ? x : x - size.x, at.x, at.x + width - size.x);
    ImGui::SetCursorScreenPos({left, at.y});
    ImGui::InvisibleButton(handle.name, size);
    items.note(handle.name, handle.tooltip);
    const bool is_active = ImGui::IsItemActive();
    ImGui::GetWindowDrawList()->AddRectFilled({left, at.y}, {left + size.x, at.y + size.y},
                                              is_active || ImGui::IsItemHovered() ? kBarKnob : kBarHandle,
                                              2 * s);
    if (!is_active && !ImGui::IsItemDeactivated()) {
      continue;
    }
    const double share = std::clamp(double{(ImGui::GetIO().MousePos.x - at.x) / width}, 0.0, 1.0);
    Passage passage = state.passage;
    const double least = is_end ? passage.begin.value_or(0) + kLeastLength : 0;
    const double most = is_end ? state.duration : passage.end.value_or(state.duration) - kLeastLength;
    const double pointed = std::max(std::min(share * state.duration, most), least);
    if (ImGui::IsItemDeactivated()) {
      requests.passage = PassageRequest{passage, time, true};
    } else if (ImGui::GetIO().MouseDelta.x != 0) {
      passage.*handle.end = pointed;
      requests.passage = PassageRequest{passage, pointed, false};
    }
    held = is_active ? std::optional(pointed) : held;
  }
  ImGui::SetCursorScreenPos(at);
  return held;
}

void draw_time_line(const ControlState& state, float width, ControlItems& items, ControlRequests& requests) {
  const float height = kTimeLine * items.scale();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::optional<double> handle = draw_handles(state, at, width, items, requests);
  ImGui::InvisibleButton("time line", {width, height});
  const float share = std::clamp((ImGui::GetIO().MousePos.x - at.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  const double pointed = handle.value_or(state.duration * double{share});
  const bool held = ImGui::IsItemActive();
  const bool near = held || handle || ImGui::IsItemHovered();
  items.note("time line", "");
  // While the pointer drags, each position is requested once.
  if (held && (ImGui::IsItemActivated() || ImGui::GetIO().MouseDelta.x != 0)) {
    requests.seek = pointed;
  }
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float thickness = (near ? 8.0F : 4.0F) * items.scale();
  const float bottom = at.y + height;
  const auto column = [&](double time) {
    return at.x + width * static_cast<float>(std::clamp(time / state.duration, 0.0, 1.0));
  };
  const float knob = column(state.position);
  list->AddRectFilled({at.x, bottom - thickness}, {at.x + width, bottom}, kBarTrack);
  list->AddRectFilled({at.x, bottom - thickness}, {knob, bottom}, kBarPlayed);
  if (state.passage != Passage{}) {
    list->AddRectFilled({column(state.passage.begin.value_or(0)), bottom - 2 * thickness},
                        {column(state.passage.end.value_or(state.duration)), bottom}, kBarPassage);
  }
  for (const io::Chapter& chapter : state.chapters) {
    const float x = column(chapter.begin);
    list->AddRectFilled({x, bottom - 2 * thickness}, {x + items.scale(), bottom}, kBarKnob);
  }
  if (near) {
    const std::string time = time_text(pointed, handle.has_value());
    const ImVec2 size = ImGui::CalcTextSize(time.c_str());
    const float x = std::clamp(ImGui::GetIO().MousePos.x - size.x / 2, at.x, at.x + width - size.x);
    const ImVec2 corner{x, at.y - size.y - 4 * items.scale()};
    ImDrawList* const front = ImGui::GetForegroundDrawList();
    front->AddRectFilled({corner.x - 4, corner.y - 2}, {corner.x + size.x + 4, corner.y + size.y + 2},
                         kBarTime);
    front->AddText(corner, kBarKnob, time.c_str());
  }
  list->AddCircleFilled(
      {std::clamp(knob, at.x + thickness, at.x + width - thickness), bottom - thickness / 2},
      thickness * 0.9F, kBarKnob);
}

void draw_volume(const ControlState& state, bool has_slider, ControlItems& items, ControlRequests& requests) {
  auto value = static_cast<float>(state.muted ? 0 : *state.volume * 100);
  if (items.icon("mute", state.muted ? Icon::kMuted : Icon::kVolume, "Mute. Key: m")) {
    requests.keys.emplace_back("m");
  }
  if (!has_slider) {
    return;
  }
  ImGui::SameLine();
  ImGui::SetNextItemWidth(80 * items.scale());
  if (ImGui::SliderFloat("###volume", &value, 0, 100, "%.0f %%", ImGuiSliderFlags_AlwaysClamp)) {
    requests.volume = double{value} / 100;
  }
  items.note("volume", "Volume. Keys: 9 and 0");
}

void draw_speed(double speed, ControlItems& items, ControlRequests& requests) {
  static constexpr std::array kSpeeds{0.1, 0.25, 0.5, 1.0, 2.0, 4.0};
  ImGui::SetNextItemWidth(64 * items.scale());
  if (ImGui::BeginCombo("###speed", fmt::format("x{:.3g}", speed).c_str(), ImGuiComboFlags_NoArrowButton)) {
    for (const double each : kSpeeds) {
      if (ImGui::Selectable(fmt::format("x{:.3g}", each).c_str(), each == speed)) {
        requests.speed = each;
      }
      items.note(fmt::format("speed {:.3g}", each).c_str(), "");
    }
    ImGui::EndCombo();
  }
  items.note("speed", "Speed, with the pitch of sound kept from x0.5 to x2. Keys: [ ] { } and BACKSPACE");
}

// The position and, if known, the duration, and perhaps the number of the frame; with fractions of a second
// for short clips.
std::string times_text(const ControlState& state, bool has_number) {
  constexpr double kShort = 10;
  const double duration = state.duration;
  const bool fraction = duration > 0 && duration < kShort;
  return time_text(state.position, fraction) +
         (duration > 0 ? " / " + time_text(std::max(duration, state.position), fraction) : "") +
         (has_number ? fmt::format("   frame {}", state.frame) : "");
}

// Buttons at the right end, with words where there is room.
void draw_window_buttons(const ControlState& state, float width, ControlItems& items,
                         ControlRequests& requests) {
  const float s = items.scale();
  const bool roomy = width > 700 * s;
  const auto ask = [&](const char* name, const char* label, Icon icon, const char* key, const char* tooltip) {
    ImGui::SameLine();
    if (label != nullptr && roomy ? items.button(name, label, tooltip) : items.icon(name, icon, tooltip)) {
      requests.keys.emplace_back(key);
    }
  };
  const int units = (roomy ? 150 : 104) + (state.can_open ? (roomy ? 58 : 34) : 0);
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), width - static_cast<float>(units) * s));
  ImGui::Dummy({0, 0});
  if (state.can_open) {
    ask("open", "Open", Icon::kOpen, "Ctrl+O", "Open another file, or drop it on the window. Key: Ctrl+O");
  }
  ask("settings", "Settings", Icon::kSettings, "TAB", "Open or close the settings. Key: TAB");
  ImGui::SameLine();
  if (items.button("help", "?", "List of all keys. Key: ?")) {
    requests.keys.emplace_back("?");
  }
  ask("full screen", nullptr, state.full_screen ? Icon::kWindow : Icon::kFull, "f",
      "Full screen. Keys: f, ESC; or double click");
}

void draw_steps(ControlItems& items, ControlRequests& requests) {
  if (items.icon("step back", Icon::kBack, "One frame back. Key: ,")) {
    requests.keys.emplace_back(",");
  }
  ImGui::SameLine();
  if (items.icon("step forward", Icon::kForward, "One frame forward. Key: .")) {
    requests.keys.emplace_back(".");
  }
}

// Play, steps, time and speed, as far as the source has them. `has_volume`: the volume is in this row.
void draw_transport(const ControlState& state, float width, bool has_volume, ControlItems& items,
                    ControlRequests& requests) {
  const double units = double{width} / double{items.scale()};
  if (items.icon("play", state.paused ? Icon::kPlay : Icon::kPause,
                 "Play or pause. Keys: SPACE, p; or click the picture")) {
    requests.keys.emplace_back(" ");
  }
  ImGui::SameLine();
  const bool roomy = units >= kTransportWidth;
  if (!state.live && roomy) {
    draw_steps(items, requests);
    ImGui::SameLine();
  }
  ImGui::AlignTextToFramePadding();
  const bool has_number = units >= kLoopWidth;
  ImGui::TextUnformatted(state.live ? "live" : times_text(state, has_number).c_str());
  if (!state.live && roomy) {
    ImGui::SameLine();
    draw_speed(state.speed, items, requests);
    if (state.can_seek && units >= kLoopWidth) {
      ImGui::SameLine();
      ask_by_key(items, requests, "loop", "Loop", state.loops, "l",
                 "Repeat a passage: set its begin, set its end, stop. Key: l; or drag the handles");
    }
  }
  if (state.volume && roomy && has_volume) {
    ImGui::SameLine();
    draw_volume(state, units > (state.writing ? 760 : kStrengthRowWidth), items, requests);
  }
}

void draw_record(const ControlState& state, ControlItems& items, ControlRequests& requests) {
  const bool records = !state.recording.empty();
  for (const ImGuiCol part : {ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive}) {
    ImGui::PushStyleColor(part, records ? kRecording : ImGui::GetColorU32(part));
  }
  if (items.button("record", records ? state.recording.c_str() : "Record",
                   "Begin or end a recording. Key: r")) {
    requests.keys.emplace_back("r");
  }
  ImGui::PopStyleColor(3);
}

void draw_buttons(const ControlState& state, float width, const BarParts& parts, ControlItems& items,
                  ControlRequests& requests) {
  const float s = items.scale();
  ImGui::SetCursorPosX(8 * s);
  if (!state.still_picture) {
    draw_transport(state, width, parts.extra_rows < 2, items, requests);
    ImGui::SameLine();
  }
  if (state.live) {
    draw_record(state, items, requests);
  }
  if (parts.progress) {  // as wide as the other buttons allow
    draw_progress(state, std::clamp(width - 760 * s, 110 * s, 240 * s), items, requests);
  }
  draw_window_buttons(state, width, items, requests);
}

// The rows of narrow windows, which have no panel.
void draw_extra_rows(const ControlState& state, int rows, ControlItems& items, ControlRequests& requests) {
  const float s = items.scale();
  constexpr float kRow = 34;
  const bool moves = !state.live && !state.still_picture;
  ImGui::SetCursorPos({8 * s, (4 + kRow) * s});
  draw_strength_words(state, items, requests);
  if (rows > 2) {
    ImGui::SetCursorPos({8 * s, (4 + 2 * kRow) * s});
    if (moves) {
      draw_steps(items, requests);
      ImGui::SameLine();
      draw_speed(state.speed, items, requests);
      ImGui::SameLine();
    }
  }
  if (state.volume) {
    draw_volume(state, true, items, requests);
  }
}

void draw_strength_and_writing(const ControlState& state, float width, bool names, ControlItems& items,
                               ControlRequests& requests) {
  const float s = items.scale();
  const float writing = state.live ? 0 : (state.writing ? 150 : 90) * s;
  ImGui::SetCursorPos({8 * s, 4 * s});
  ImGui::BeginChild("strength", {width - writing - 24 * s, 30 * s}, false,
                    ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollbar);
  draw_strength_row(state, names, items, requests);
  ImGui::EndChild();
  if (state.live) {
    return;
  }
  ImGui::SameLine();
  if (state.writing) {
    draw_progress(state, writing, items, requests);
  } else {
    ask_by_key(items, requests, "write", "Write file", false, "w",
               "Denoise to a file in the background. Key: w");
  }
}

}  // namespace

void draw_seek_bar(const ControlState& state, io::Size window, int height, const BarParts& parts,
                   ControlItems& items, ControlRequests& requests) {
  const auto width = static_cast<float>(window.width);
  const auto bottom = static_cast<float>(window.height);
  const auto top = bottom - static_cast<float>(height);
  constexpr float kButtons = 49;  // from the bottom, in units of 1/96 inch
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{6 * items.scale(), 0});
  ImGui::SetNextWindowPos({0, top});
  ImGui::SetNextWindowSize({width, bottom - top});
  ImGui::Begin("bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::GetWindowDrawList()->AddRectFilled({0, top}, {width, bottom}, kBarGround);
  if (parts.extra_rows > 0) {
    draw_strength_and_writing(state, width, parts.extra_rows == 1, items, requests);
  }
  if (parts.extra_rows > 1) {
    draw_extra_rows(state, parts.extra_rows, items, requests);
  }
  ImGui::SetCursorPosY(bottom - top - kButtons * items.scale());
  draw_buttons(state, width, parts, items, requests);
  if (state.can_seek && state.duration > 0 && !state.still_picture) {
    ImGui::SetCursorPos({0, bottom - top - kTimeLine * items.scale()});
    draw_time_line(state, width, items, requests);
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
}

}  // namespace limpid::app
