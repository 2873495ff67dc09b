// SPDX-License-Identifier: MIT
#include "app/player/controls.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/player/seek_bar.h"
#include "app/player/settings_panel.h"

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kControlsStay{2000};
// In units of 1/96 inch.
constexpr float kPanelWidth = 270;
constexpr float kPanelMargin = 8;

}  // namespace

void Controls::notice_pointer(Clock::time_point now, bool holds) {
  if (automatic_ || pinned_) {
    visible_until_ = holds ? now + 5 * kControlsStay : now + kControlsStay;
  }
}

std::optional<Controls::Clock::time_point> Controls::hides_at(Clock::time_point now) const {
  return !pinned_ && now < visible_until_ ? std::optional(visible_until_) : std::nullopt;
}

int Controls::bar_height(double scale) { return static_cast<int>(std::lround(54 * scale)); }

int Controls::panel_left(int width, double scale) {
  const double margin = double{kPanelMargin} * scale;
  return static_cast<int>(width - margin - std::min(double{kPanelWidth} * scale, width - 2 * margin));
}

ControlRequests Controls::draw(const ControlState& state, io::Size window, double scale,
                               Clock::time_point now) {
  ControlRequests requests;
  items_.begin(static_cast<float>(scale));
  if (is_visible(now)) {
    draw_seek_bar(state, window, bar_height(scale), items_, requests);
    // The panel leaves more than half of the picture, unless it was asked for.
    if (pinned_ || static_cast<float>(window.width) > 3 * kPanelWidth * items_.scale()) {
      draw_panel(state, window, requests);
    }
  }
  return requests;
}

std::optional<std::filesystem::path> Controls::draw_files(FileList& files, io::Size window,
                                                          const FileList::DrawText& draw_text) {
  return files.draw(window, items_, draw_text);
}

void Controls::draw_panel(const ControlState& state, io::Size window, ControlRequests& requests) {
  const float margin = kPanelMargin * items_.scale();
  const auto left = static_cast<float>(panel_left(window.width, double{items_.scale()}));
  const float most = static_cast<float>(window.height - bar_height(double{items_.scale()})) - 2 * margin;
  const float panel = static_cast<float>(window.width) - margin - left;
  ImGui::SetNextWindowPos({left, margin});
  ImGui::SetNextWindowSizeConstraints({panel, 0}, {panel, std::max(most, 1.0F)});
  ImGui::Begin("panel", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_AlwaysAutoResize);
  draw_settings(state, items_, requests);
  ImGui::End();
}

}  // namespace limpid::app
