// SPDX-License-Identifier: MIT
#include "app/player/controls.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/player/output_panel.h"
#include "app/player/seek_bar.h"
#include "app/player/settings_panel.h"

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kControlsStay{2000};
// In units of 1/96 inch.
constexpr double kPanelWidth = 304;
constexpr double kBarHeight = 54;
constexpr double kExtraRow = 34;
// Windows with a smaller side have extra rows instead of the panel.
constexpr double kNarrow = 720;
constexpr double kLow = 400;

constexpr ImGuiWindowFlags kFixedPart = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                        ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                                        ImGuiWindowFlags_NoSavedSettings;

bool is_narrow(io::Size window, double scale) {
  return window.width < kNarrow * scale || window.height < kLow * scale;
}

}  // namespace

void Controls::notice_pointer(Clock::time_point now, bool holds) {
  if (automatic_ || open_) {
    visible_until_ = holds ? now + 5 * kControlsStay : now + kControlsStay;
  }
}

std::optional<Controls::Clock::time_point> Controls::changes_at(Clock::time_point now) const {
  std::optional<Clock::time_point> at = tooltip_at(now);
  if (!open_ && now < visible_until_) {
    at = std::min(at.value_or(visible_until_), visible_until_);
  }
  return at;
}

int Controls::panel_width(io::Size window, double scale) const {
  return open_ && !is_narrow(window, scale) ? static_cast<int>(std::lround(kPanelWidth * scale)) : 0;
}

int Controls::bar_height(io::Size window, double scale) const {
  return static_cast<int>(std::lround((kBarHeight + kExtraRow * extra_rows(window, scale)) * scale));
}

int Controls::extra_rows(io::Size window, double scale) const {
  if (!open_ || !is_narrow(window, scale)) {
    return 0;
  }
  return 1 + (window.width < kStrengthRowWidth * scale ? 1 : 0) +
         (window.width < kTransportWidth * scale ? 1 : 0);
}

io::Size Controls::stage(io::Size window, double scale) const {
  return open_ ? io::Size{std::max(window.width - panel_width(window, scale), 1),
                          std::max(window.height - bar_height(window, scale), 1)}
               : window;
}

ControlRequests Controls::draw(const ControlState& state, io::Size window, double scale,
                               Clock::time_point now) {
  ControlRequests requests;
  items_.begin(static_cast<float>(scale), now);
  if (is_visible(now)) {
    const int bar = bar_height(window, scale);
    items_.put_tooltips_above(static_cast<float>(window.height - bar) - 4 * items_.scale());
    const BarParts parts{extra_rows(window, scale), !open_ && state.writing.has_value()};
    draw_seek_bar(state, window, bar, parts, items_, requests);
  }
  if (panel_width(window, scale) > 0) {
    draw_panel(state, window, requests);
  }
  if (state.asks_to_quit) {
    draw_question(state, window, requests);
  }
  return requests;
}

std::optional<std::filesystem::path> Controls::draw_files(FileList& files, io::Size window,
                                                          const FileList::TextOf& text_of) {
  return files.draw(window, items_, text_of);
}

void Controls::draw_panel(const ControlState& state, io::Size window, ControlRequests& requests) {
  const auto scale = double{items_.scale()};
  const auto width = static_cast<float>(panel_width(window, scale));
  const auto left = static_cast<float>(window.width) - width;
  items_.put_tooltips_left_of(left - 4 * items_.scale());
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::SetNextWindowPos({left, 0});
  ImGui::SetNextWindowSize({width, static_cast<float>(window.height - bar_height(window, scale))});
  ImGui::Begin("panel", nullptr, kFixedPart);
  if (items_.choice("adjust", "Adjust", !shows_output_, "Strength, noise, quality and view")) {
    shows_output_ = false;
  }
  ImGui::SameLine();
  if (items_.choice("output", "Output", shows_output_, "Passage, files and camera")) {
    shows_output_ = true;
  }
  ImGui::SameLine(width - 116 * items_.scale());
  ask_by_key(items_, requests, "undo", "Undo", false, "Ctrl+Z",
             "Undo the last change of a setting. Key: Ctrl+Z");
  ImGui::SameLine();
  ask_by_key(items_, requests, "redo", "Redo", false, "Ctrl+Y", "Redo what was undone. Key: Ctrl+Y");
  const bool has_footer = !state.live;
  const float footer = has_footer ? write_row_height(state) : 0;
  ImGui::BeginChild("tab", {0, -footer}, false, ImGuiWindowFlags_NoNav);
  if (shows_output_) {
    draw_output(state, items_, requests);
  } else {
    draw_settings(state, items_, requests);
  }
  ImGui::EndChild();
  if (has_footer) {
    draw_write_row(state, items_, requests);
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

void Controls::draw_question(const ControlState& state, io::Size window, ControlRequests& requests) {
  ImGui::SetNextWindowPos({static_cast<float>(window.width) / 2, static_cast<float>(window.height) / 2}, 0,
                          {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(static_cast<float>(window.width), static_cast<float>(430 * items_.scale())), 0});
  ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowBgAlpha(1);
  ImGui::Begin("question", nullptr, kFixedPart);
  ImGui::TextWrapped("%s is being written: %.0f %%", state.written.c_str(), 100 * state.writing.value_or(0));
  ImGui::Spacing();
  const auto ask = [&](const char* name, const char* label, QuitAnswer answer, const char* tooltip) {
    if (items_.button(name, label, tooltip)) {
      requests.quit = answer;
    }
  };
  ask("finish writing", "Quit and finish the file", QuitAnswer::kFinish,
      "The file is finished without the window. Key: ENTER");
  ImGui::SameLine();
  ask("cancel writing", "Cancel it", QuitAnswer::kCancel, "Quit, and keep what is written so far. Key: c");
  ImGui::SameLine();
  ask("back", "Back", QuitAnswer::kBack, "Keep the window. Key: ESC");
  ImGui::End();
}

}  // namespace limpid::app
