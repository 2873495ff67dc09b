// SPDX-License-Identifier: MIT
#include "app/player/control_items.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kTooltipDelay{600};
// In units of 1/96 inch.
constexpr float kLabelWidth = 76;
constexpr float kFieldWidth = 58;
constexpr float kIconSide = 28;

bool is_escaping() {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::IsKeyPressed(ImGui::GetIO().KeyMap[ImGuiKey_Escape]);
#else
  return ImGui::IsKeyPressed(ImGuiKey_Escape);
#endif
}

}  // namespace

void ControlItems::begin(float scale, Clock::time_point now) {
  scale_ = scale;
  now_ = now;
  places_.clear();
  pointed_.clear();
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
  if (pointed_ != last_pointed_) {
    last_pointed_ = pointed_;
    pointed_since_ = now_;
    has_tooltip_ = false;
  }
}

std::optional<ControlItems::Clock::time_point> ControlItems::tooltip_at() const {
  return last_pointed_.empty() || has_tooltip_ ? std::nullopt : std::optional(pointed_since_ + kTooltipDelay);
}

void ControlItems::note(const char* name, const char* tooltip) {
  const ImVec2 least = ImGui::GetItemRectMin();
  const ImVec2 size = ImGui::GetItemRectSize();
  places_[name] = {static_cast<int>(least.x), static_cast<int>(least.y), static_cast<int>(size.x),
                   static_cast<int>(size.y)};
  if (*tooltip == '\0' || !ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    return;
  }
  pointed_ = name;
  if (pointed_ != last_pointed_ || now_ - pointed_since_ < kTooltipDelay) {
    return;
  }
  has_tooltip_ = true;
  // Beside the control, which stays visible, and inside the window.
  const ImVec2 middle{least.x + size.x / 2, least.y + size.y / 2};
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  if (tooltip_edge_.x >= 0) {
    ImGui::SetNextWindowPos({tooltip_edge_.x, middle.y}, 0, {1, middle.y / window.y});
  } else {
    ImGui::SetNextWindowPos({middle.x, tooltip_edge_.y}, 0, {middle.x / window.x, 1});
  }
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(280 * scale_);
  ImGui::TextUnformatted(tooltip);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

bool ControlItems::button(const char* name, const char* label, const char* tooltip) {
  const bool clicked = ImGui::Button(fmt::format("{}###{}", label, name).c_str());
  note(name, tooltip);
  return clicked;
}

bool ControlItems::choice(const char* name, const char* label, bool chosen, const char* tooltip) {
  if (chosen) {
    for (const ImGuiCol part : {ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive}) {
      ImGui::PushStyleColor(part, ImGui::GetStyleColorVec4(ImGuiCol_SliderGrabActive));
    }
  }
  const bool clicked = button(name, label, tooltip);
  if (chosen) {
    ImGui::PopStyleColor(3);
  }
  return clicked;
}

bool ControlItems::icon(const char* name, Icon icon, const char* tooltip) {
  const float side = kIconSide * scale_;
  const bool clicked = ImGui::Button(fmt::format("###{}", name).c_str(), {side, side});
  const ImVec2 corner = ImGui::GetItemRectMin();
  draw_icon(*ImGui::GetWindowDrawList(), icon, {corner.x + side / 2, corner.y + side / 2}, side / 2,
            ImGui::GetColorU32(ImGuiCol_Text));
  note(name, tooltip);
  return clicked;
}

bool ControlItems::value(const char* name, const char* label, float& value, const ValueRange& range,
                         const char* tooltip) {
  const float before = value;
  const auto resets = [] { return ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0); };
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  const bool by_label = resets();
  ImGui::SameLine(kLabelWidth * scale_);
  ImGui::SetNextItemWidth(-kFieldWidth * scale_ - ImGui::GetStyle().ItemSpacing.x);
  ImGui::SliderFloat(fmt::format("###{}", name).c_str(), &value, range.least, range.most, "",
                     ImGuiSliderFlags_NoInput);
  const bool is_held = ImGui::IsItemActive();
  if (resets()) {
    reset_ = name;
  } else if (reset_ == name && !is_held) {
    reset_.clear();
  }
  if (by_label || reset_ == name) {
    value = range.standard;  // as long as the slider is held, which sets it by the pointer
  }
  note(name, tooltip);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  typed_value(name, value, range);
  return value != before;
}

// Text that is typed counts when the field is left, except by ESC.
bool ControlItems::typed_value(const char* name, float& value, const ValueRange& range) {
  std::array<char, 24> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{:.{}f}{}", value, range.decimals, range.unit);
  const std::string field = std::string(name) + " value";
  const bool is_entered =
      ImGui::InputText(fmt::format("###{}", field).c_str(), text.data(), text.size(),
                       ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_EnterReturnsTrue);
  const bool is_left = ImGui::IsItemDeactivatedAfterEdit() && !is_escaping();
  note(field.c_str(), "Click, and type a number. A double click on the slider resets it");
  if (ImGui::IsItemActive() || is_entered) {
    typed_ = text.data();
  }
  const std::optional<float> number = is_entered || is_left ? parse_number(typed_) : std::nullopt;
  if (number) {
    value = std::clamp(*number, range.least, range.limit);
  }
  return number.has_value();
}

std::optional<float> parse_number(std::string text) {
  std::ranges::replace(text, ',', '.');
  text.erase(0, text.find_first_not_of(' '));
  float number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void draw_icon(ImDrawList& list, Icon icon, ImVec2 center, float side, ImU32 ink) {
  // Positions are in the square from -1 to 1.
  const float unit = side / 2;
  const auto at = [&](float x, float y) { return ImVec2{center.x + x * unit, center.y + y * unit}; };
  const float line = std::max(side / 9, 1.0F);
  const auto box = [&](float x0, float y0, float x1, float y1) {
    list.AddRectFilled(at(x0, y0), at(x1, y1), ink);
  };
  const auto triangle = [&](float tip, float base) {
    list.AddTriangleFilled(at(base, -0.9F), at(tip, 0), at(base, 0.9F), ink);
  };
  switch (icon) {
    case Icon::kPlay:
      return triangle(0.9F, -0.7F);
    case Icon::kPause:
      box(-0.7F, -0.9F, -0.2F, 0.9F);
      return box(0.2F, -0.9F, 0.7F, 0.9F);
    case Icon::kBack:
      box(0.5F, -0.9F, 0.8F, 0.9F);
      return triangle(-0.9F, 0.4F);
    case Icon::kForward:
      box(-0.8F, -0.9F, -0.5F, 0.9F);
      return triangle(0.9F, -0.4F);
    case Icon::kOpen:
      box(-0.9F, -0.8F, -0.1F, -0.5F);
      return list.AddRect(at(-0.9F, -0.5F), at(0.9F, 0.8F), ink, 0, 0, line);
    case Icon::kSettings:
      for (const float y : {-0.6F, 0.0F, 0.6F}) {
        list.AddLine(at(-0.9F, y), at(0.9F, y), ink, line);
        const float knob = y == 0 ? -0.3F : 0.4F;
        box(knob - 0.18F, y - 0.28F, knob + 0.18F, y + 0.28F);
      }
      return;
    case Icon::kFull:
    case Icon::kWindow:
      for (const float x : {-1.0F, 1.0F}) {
        for (const float y : {-1.0F, 1.0F}) {
          // Corners that point outward, or inward.
          const float corner = icon == Icon::kFull ? 0.9F : 0.3F;
          const float end = icon == Icon::kFull ? 0.3F : 0.9F;
          list.AddLine(at(corner * x, corner * y), at(end * x, corner * y), ink, line);
          list.AddLine(at(corner * x, corner * y), at(corner * x, end * y), ink, line);
        }
      }
      return;
    case Icon::kMuted:
    case Icon::kVolume:
      box(-0.9F, -0.3F, -0.5F, 0.3F);
      list.AddTriangleFilled(at(-0.7F, 0), at(0, -0.8F), at(0, 0.8F), ink);
      if (icon == Icon::kMuted) {
        list.AddLine(at(0.3F, -0.4F), at(0.9F, 0.4F), ink, line);
        return list.AddLine(at(0.3F, 0.4F), at(0.9F, -0.4F), ink, line);
      }
      list.PathArcTo(at(0, 0), 0.6F * unit, -0.8F, 0.8F);
      return list.PathStroke(ink, 0, line);
  }
}

}  // namespace limpid::app
