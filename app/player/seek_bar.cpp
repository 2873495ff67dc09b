// SPDX-License-Identifier: MIT
#include "app/player/seek_bar.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/console/time_text.h"

namespace limpid::app {
namespace {

constexpr ImU32 kBarGround = IM_COL32(0, 0, 0, 190);
constexpr ImU32 kBarTrack = IM_COL32(255, 255, 255, 60);
constexpr ImU32 kBarPlayed = IM_COL32(80, 150, 250, 255);
constexpr ImU32 kBarPassage = IM_COL32(250, 200, 60, 150);
constexpr ImU32 kBarKnob = IM_COL32(255, 255, 255, 255);

/// Height of the time line.
constexpr float kTimeLine = 18;

void draw_time_line(const ControlState& state, float width, ControlItems& items, ControlRequests& requests) {
  const float height = kTimeLine * items.scale();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("time line", {width, height});
  const float share = std::clamp((ImGui::GetIO().MousePos.x - at.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  const double pointed = state.duration * double{share};
  const bool held = ImGui::IsItemActive();
  const bool near = held || ImGui::IsItemHovered();
  items.note("time line", fmt::format("{}: click or drag to go there. Keys: LEFT, RIGHT, HOME, END",
                                      time_text(pointed, false))
                              .c_str());
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
    list->AddRectFilled({column(state.passage.begin.value_or(0)), at.y + 2 * items.scale()},
                        {column(state.passage.end.value_or(state.duration)), bottom}, kBarPassage);
  }
  list->AddCircleFilled(
      {std::clamp(knob, at.x + thickness, at.x + width - thickness), bottom - thickness / 2},
      thickness * 0.9F, kBarKnob);
}

void draw_volume(double volume, ControlItems& items, ControlRequests& requests) {
  auto value = static_cast<float>(volume * 100);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(90 * items.scale());
  if (ImGui::SliderFloat("###volume", &value, 0, 100, "vol %.0f %%", ImGuiSliderFlags_AlwaysClamp)) {
    requests.volume = double{value} / 100;
  }
  items.note("volume", "Volume. Keys: / *");
}

void draw_speed(double speed, ControlItems& items, ControlRequests& requests) {
  static constexpr std::array kSpeeds{0.1, 0.25, 0.5, 1.0, 2.0, 4.0};
  ImGui::SameLine();
  ImGui::SetNextItemWidth(64 * items.scale());
  if (ImGui::BeginCombo("###speed", fmt::format("x{:.3g}", speed).c_str(), ImGuiComboFlags_NoArrowButton)) {
    for (const double each : kSpeeds) {
      if (ImGui::Selectable(fmt::format("x{:.3g}", each).c_str(), each == speed)) {
        requests.speed = each;
      }
      items.note(fmt::format("speed {:.3g}", each).c_str(), "Speed. Keys: [ ] and BACKSPACE");
    }
    ImGui::EndCombo();
  }
  items.note("speed", "Speed. Keys: [ ] and BACKSPACE");
}

// The position and, if known, the duration; with fractions of a second for short clips.
std::string times_text(double position, double duration) {
  constexpr double kShort = 10;
  const bool fraction = duration > 0 && duration < kShort;
  return time_text(position, fraction) +
         (duration > 0 ? " / " + time_text(std::max(duration, position), fraction) : "");
}

// Buttons at the right end, as many as fit.
void draw_window_buttons(const ControlState& state, float width, ControlItems& items,
                         ControlRequests& requests) {
  const auto ask = [&](const char* name, const char* label, const char* key, const char* tooltip) {
    ImGui::SameLine();
    if (items.button(name, label, tooltip)) {
      requests.keys.emplace_back(key);
    }
  };
  const bool roomy = width > 620 * items.scale();
  const int units = (roomy ? 200 : 84) + (roomy && state.can_open ? 58 : 0);
  const float needed = static_cast<float>(units) * items.scale();
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), width - needed));
  ImGui::Dummy({0, 0});
  if (roomy && state.can_open) {
    ask("open", "Open", "Ctrl+O", "Open another file, or drop it on the window. Key: Ctrl+O");
  }
  ask("settings", "Settings", "TAB", "Keep the controls on the screen. Key: TAB");
  if (roomy) {
    ask("help", "Keys", "?", "List of all keys. Key: ?");
    ask("full screen", state.full_screen ? "Window" : "Full", "f",
        "Full screen. Keys: f, ESC; or double click");
  }
}

void draw_buttons(const ControlState& state, float width, ControlItems& items, ControlRequests& requests) {
  const float s = items.scale();
  const auto ask = [&](const char* name, const char* label, const char* key, const char* tooltip) {
    if (items.button(name, label, tooltip)) {
      requests.keys.emplace_back(key);
    }
    ImGui::SameLine();
  };
  ImGui::SetCursorPosX(8 * s);
  ask("play", state.paused ? "Play" : "Pause", " ", "Play or pause. Keys: SPACE, p; or click the picture");
  const bool roomy = width > 420 * s;
  if (!state.live && roomy) {
    ask("step back", "<", ",", "One frame back. Key: ,");
    ask("step forward", ">", ".", "One frame forward. Key: .");
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(state.live ? "live" : times_text(state.position, state.duration).c_str());
  if (state.live) {
    ImGui::SameLine();
    ask("record", state.recording.empty() ? "Record" : state.recording.c_str(), "r",
        "Begin or end a recording. Key: r");
  } else if (roomy) {
    draw_speed(state.speed, items, requests);
  }
  if (state.volume && width > 560 * s) {
    draw_volume(*state.volume, items, requests);
  }
  draw_window_buttons(state, width, items, requests);
}

}  // namespace

void draw_seek_bar(const ControlState& state, io::Size window, int height, ControlItems& items,
                   ControlRequests& requests) {
  const auto width = static_cast<float>(window.width);
  const auto bottom = static_cast<float>(window.height);
  const auto top = bottom - static_cast<float>(height);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{6 * items.scale(), 0});
  ImGui::SetNextWindowPos({0, top});
  ImGui::SetNextWindowSize({width, bottom - top});
  ImGui::Begin("bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::GetWindowDrawList()->AddRectFilled({0, top}, {width, bottom}, kBarGround);
  ImGui::SetCursorPosY(5 * items.scale());
  draw_buttons(state, width, items, requests);
  if (state.can_seek && state.duration > 0) {
    ImGui::SetCursorPos({0, bottom - top - kTimeLine * items.scale()});
    draw_time_line(state, width, items, requests);
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
}

}  // namespace limpid::app
