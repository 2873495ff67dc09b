// SPDX-License-Identifier: MIT
#include "app/player/control_items.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace limpid::app {

void ControlItems::begin(float scale) {
  scale_ = scale;
  places_.clear();
}

void ControlItems::end() {
  for (const auto& [name, place] : places_) {
    const auto last = last_places_.find(name);
    if (last == last_places_.end() || last->second != place) {
      spdlog::debug(
          fmt::format("control: {} at {},{}", name, place.x + place.width / 2, place.y + place.height / 2));
    }
  }
  std::swap(last_places_, places_);
}

void ControlItems::note(const char* name, const char* tooltip) {
  const ImVec2 least = ImGui::GetItemRectMin();
  const ImVec2 size = ImGui::GetItemRectSize();
  places_[name] = {static_cast<int>(least.x), static_cast<int>(least.y), static_cast<int>(size.x),
                   static_cast<int>(size.y)};
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive()) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(280 * scale_);
    ImGui::TextUnformatted(tooltip);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
}

bool ControlItems::button(const char* name, const char* label, const char* tooltip) {
  const bool clicked = ImGui::Button(fmt::format("{}###{}", label, name).c_str());
  note(name, tooltip);
  return clicked;
}

bool ControlItems::choice(const char* name, const char* label, bool chosen, const char* tooltip) {
  if (chosen) {
    ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_SliderGrabActive));
  }
  const bool clicked = button(name, label, tooltip);
  if (chosen) {
    ImGui::PopStyleColor();
  }
  return clicked;
}

bool ControlItems::slider(const char* name, const char* label, float& value, float least, float most,
                          const char* format, const char* tooltip) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  ImGui::SameLine(72 * scale_);
  ImGui::SetNextItemWidth(-1);
  const bool changed = ImGui::SliderFloat(fmt::format("###{}", name).c_str(), &value, least, most, format,
                                          ImGuiSliderFlags_AlwaysClamp);
  note(name, tooltip);
  return changed;
}

}  // namespace limpid::app
