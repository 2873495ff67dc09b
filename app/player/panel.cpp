// SPDX-License-Identifier: MIT
// The rows of the panel, and the bar with the time line.

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "app/console/text.h"
#include "app/pipeline/noise_text.h"
#include "app/player/controls.h"
#include "app/player/measurements.h"
#include "app/player/viewer.h"
#include "core/filter/filter.h"
#include "core/noise/noise_model.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

constexpr ImU32 kPlotGround = IM_COL32(0, 0, 0, 160);
constexpr ImU32 kPlotInk = IM_COL32(200, 200, 200, 255);
constexpr ImU32 kPlotLine = IM_COL32(120, 180, 255, 255);
constexpr ImU32 kHeadingInk = IM_COL32(166, 200, 255, 255);
constexpr ImU32 kBarGround = IM_COL32(0, 0, 0, 190);
constexpr ImU32 kBarTrack = IM_COL32(255, 255, 255, 60);
constexpr ImU32 kBarPlayed = IM_COL32(80, 150, 250, 255);
constexpr ImU32 kBarPassage = IM_COL32(250, 200, 60, 150);
constexpr ImU32 kBarHandle = IM_COL32(250, 200, 60, 220);
constexpr ImU32 kBarKnob = IM_COL32(255, 255, 255, 255);
constexpr ImU32 kBarTime = IM_COL32(20, 20, 22, 240);
constexpr ImU32 kRecording = IM_COL32(200, 30, 30, 255);

// Least widths of windows in units of 1/96 inch, for parts of the bar.
constexpr float kStepsWidth = 330;
constexpr float kSpeedWidth = 520;
constexpr float kVolumeWidth = 700;
constexpr float kPassageWidth = 980;
/// Height of the time line.
constexpr float kTimeLine = 18;

constexpr const char* kCurve = "Noise by brightness";
constexpr const char* kFilters = "More filters";

float window_units(const ControlItems& items) { return ImGui::GetIO().DisplaySize.x / items.scale(); }

// The noise of a plane by brightness.
void draw_curve(const PlaneNoise& noise, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, kPlotGround);
  const NoiseShape::Curve& curve = noise.shape.curve;
  const float highest = std::max(*std::max_element(curve.begin(), curve.end()), 0.01F) * 1.4F;
  std::array<ImVec2, BrightnessScale::kSteps + 1> points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {at.x + size.x * static_cast<float>(i) / BrightnessScale::kSteps,
                 at.y + size.y * (1 - curve[i] / highest)};
  }
  list->AddText({at.x + 4, at.y + 2}, kPlotInk, fmt::format("{:.1f}", noise.sigma * highest).c_str());
  const float bottom = at.y + size.y - ImGui::GetFontSize() - 2;
  list->AddText({at.x + 4, bottom}, kPlotInk, "0, dark");
  list->AddText({at.x + size.x - ImGui::CalcTextSize("bright").x - 4, bottom}, kPlotInk, "bright");
  list->AddPolyline(points.data(), static_cast<int>(points.size()), kPlotLine, 0,
                    std::max(size.y / 40, 1.5F));
  ImGui::Dummy(size);
}

void draw_heading(const char* text) {
  ImGui::Spacing();
  ImGui::PushStyleColor(ImGuiCol_Text, kHeadingInk);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

// A part of the panel that opens and closes `other`, so that the panel keeps its place for one.
bool draw_section(ControlItems& items, const char* title, const char* other) {
  const bool is_open = ImGui::CollapsingHeader(title);
  if (ImGui::IsItemToggledOpen()) {
    ImGui::GetStateStorage()->SetInt(ImGui::GetID(other), 0);
  }
  items.note(title, "");
  return is_open;
}

void draw_strength(ControlItems& items) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2{8 * items.scale(), 9 * items.scale()});
  items.slider("strength", "Strength");
  ImGui::PopStyleVar();
  items.button("set strength 0.7", "Light");
  items.button("set strength 1", "Medium");
  items.button("set strength 1.4", "Strong");
  items.button("undo", "Undo");
  items.button("redo", "Redo");
  ImGui::NewLine();
  items.sliders(Place::kStrength);
}

// The noise of the shown frame, with the certainty of the estimate.
void draw_noise_figure(ControlItems& items) {
  const Viewer& v = items.viewer();
  const std::vector<std::string_view> planes = color_plane_names(v.options().format);
  const NoiseEstimate& noise = v.shown()->noise;
  std::string text;
  for (std::size_t plane = 0; plane < planes.size(); ++plane) {
    text += fmt::format("{}{} {}", plane > 0 ? "  " : "", planes[plane], level_text(noise.sigma[plane]));
  }
  const std::string remark = noise_remark(noise, v.options().format.color_model);
  text += (remark.empty() ? "" : "   ") + remark;
  ImGui::TextWrapped("%s", text.c_str());
  items.note("noise figure", "Noise standard deviation in 8-bit code values, without the strength");
  if (draw_section(items, kCurve, kFilters)) {
    draw_curve(noise.plane(0), {ImGui::GetContentRegionAvail().x, 48 * items.scale()});
  }
}

void draw_noise(ControlItems& items) {
  const Viewer& v = items.viewer();
  draw_heading("Noise");
  items.button("set noise clip", v.options().still_picture ? "Picture" : "Whole clip");
  items.button("set noise number", "Number");
  items.button("set noise area", "Area");
  items.button("set noise file", "File");
  ImGui::NewLine();
  if (v.text("noise") != "number") {
    return draw_noise_figure(items);
  }
  items.sliders(Place::kNoise);
}

void draw_quality(ControlItems& items) {
  const Viewer& v = items.viewer();
  draw_heading("Quality");
  for (const std::string& name : find_property("quality")->names(v)) {
    items.button("set quality " + name, name.c_str());
  }
  ImGui::NewLine();
  const PlayerSettings settings = v.panel_settings();
  const PlayedFrame& shown = *v.shown();
  const std::string chosen = short_text(filter_settings(settings));
  const std::string used = short_text(filter_settings(shown.is_refined ? shown.settings : shown.used));
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetColorU32(ImGuiCol_Text, 0.75F));
  ImGui::TextWrapped("%s%s", chosen.c_str(), used == chosen ? "" : ("; shown: " + used).c_str());
  ImGui::PopStyleColor();
  if (draw_section(items, kFilters, kCurve)) {
    const bool has_profiles = !filter_type(settings.filter.name).profiles.empty();
    items.list("filter", has_profiles ? ImGui::GetContentRegionAvail().x * 0.6F : -1);
    if (has_profiles) {
      ImGui::SameLine();
      items.list("profile", -1);
    }
  }
}

void draw_compare(ControlItems& items) {
  const Viewer& v = items.viewer();
  draw_heading("Compare");
  items.button("set view split", "Split");
  items.button("set view noisy", "Noisy");
  items.button("set view denoised", "Denoised");
  items.button("set view side", "Side by side");
  ImGui::NewLine();
  items.button("set view difference", "Difference");
  if (!v.is_live()) {
    items.button("set view pair", "A | B");
  }
  ImGui::SameLine(0, 16 * items.scale());
  items.button("set settings A", "A");
  items.button("set settings B", "B");
  items.button("copy-settings", v.text("settings") == "B" ? "Copy to A" : "Copy to B");
  ImGui::NewLine();
  items.sliders(Place::kCompare);
  for (const std::string& zoom : find_property("zoom")->names(v)) {
    items.button("set zoom " + zoom, zoom.c_str());
  }
  ImGui::NewLine();
}

void draw_save(ControlItems& items) {
  constexpr const char* kList = "save list";
  if (ImGui::Button("Save")) {
    ImGui::OpenPopup(kList);
  }
  items.note("save", "");
  if (ImGui::BeginPopup(kList)) {
    for (const auto& [line, label] : {std::pair{"save-settings", "Settings"},
                                      {"save-noise", "Noise profile"},
                                      {"save-pictures", "Pictures"}}) {
      if (ImGui::Selectable(label)) {
        items.viewer().request(line);
      }
      items.note(line, tooltip_of(line));
    }
    ImGui::EndPopup();
  }
}

void draw_camera(ControlItems& items) {
  const Viewer& v = items.viewer();
  draw_heading("Camera");
  if (!v.cameras().empty()) {
    items.list("camera", -1, v.options().source.c_str());
  }
  items.button("toggle loopback", "Be a camera for meetings");
  items.button("toggle mirror", "Mirror");
  ImGui::NewLine();
  if (!v.options().microphones.empty()) {
    items.list("microphone", -1, v.text("microphone").empty() ? "Microphone" : nullptr);
  }
  if (v.options().sound_level) {
    // Decibels below full scale.
    constexpr float kLeast = -60;
    const float level = 20 * std::log10(std::max(v.options().sound_level(), 1e-3F));
    ImGui::ProgressBar(1 - level / kLeast, {-1, 0}, fmt::format("level {:.0f} dB", level).c_str());
    items.note("level of audio", "Level of the microphone, in decibels below the greatest");
  }
  draw_save(items);
}

// What a narrow bar has no place for.
void draw_playing(ControlItems& items) {
  const Viewer& v = items.viewer();
  const float units = window_units(items);
  if (v.is_in_scope(Scope::kFilm) && units < kPassageWidth) {
    draw_heading("Passage");
    draw_passage(items);
    ImGui::NewLine();
  }
  if (v.is_in_scope(Scope::kFilm) && units < kSpeedWidth) {
    items.slider("speed", "Speed");
  }
  if (v.has_audio() && units < kVolumeWidth) {
    items.slider("volume", "Volume");
  }
}

}  // namespace

void draw_panel_rows(ControlItems& items) {
  draw_strength(items);
  draw_noise(items);
  draw_quality(items);
  draw_compare(items);
  if (items.viewer().is_live()) {
    draw_camera(items);
  }
  draw_playing(items);
}

void draw_passage(ControlItems& items) {
  const Viewer& v = items.viewer();
  if (v.player().can_seek()) {
    items.button("toggle loop", "Loop");
  }
  items.button("mark begin", "In");
  items.button("mark end", "Out");
  ImGui::BeginDisabled(v.state().passage == Passage{});
  items.button("whole-file", "All");
  ImGui::EndDisabled();
}

void draw_progress(ControlItems& items, float width) {
  const FileOutput& output = items.viewer().output();
  const double progress = output.progress().value_or(0);
  const float cancel = ImGui::CalcTextSize("Cancel").x + 2 * ImGui::GetStyle().FramePadding.x;
  const float whole = width > 0 ? width : ImGui::GetContentRegionAvail().x;
  ImGui::ProgressBar(static_cast<float>(progress), {whole - cancel - ImGui::GetStyle().ItemSpacing.x, 0},
                     fmt::format("writing {:.0f} %", 100 * progress).c_str());
  items.note("progress", io::valid_utf8(std::filesystem::path(output.path()).filename().string()));
  ImGui::SameLine();
  items.button("cancel-writing", "Cancel");
}

void draw_write_row(ControlItems& items) {
  const Viewer& v = items.viewer();
  if (v.is_live()) {
    return;
  }
  ImGui::Separator();
  const std::string file = std::filesystem::path(v.output().next_path()).filename().string();
  ImGui::TextUnformatted(io::valid_utf8(file).c_str());
  items.note("output file", "File that is written, beside the input");
  for (const auto& [line, label] : {std::pair{"set encoding small", "Small"},
                                    {"set encoding high", "High"},
                                    {"set encoding lossless", "Lossless"}}) {
    items.button(line, label);
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(v.output().description(v.state().passage).c_str());
  items.note("output codec",
             "Codec, and expected size by the mean of ten clips; others have a half or twice as much");
  const bool writes = v.output().is_writing();
  ImGui::BeginDisabled(writes);
  items.button("write", v.state().passage == Passage{} ? "Write file" : "Write passage");
  ImGui::EndDisabled();
  items.button("copy-command", "Copy command");
  draw_save(items);
  if (writes) {
    draw_progress(items, 0);
  }
}

float write_row_height(const ControlItems& items) {
  const Viewer& v = items.viewer();
  const float row = ImGui::GetFrameHeightWithSpacing();
  const float name = ImGui::GetTextLineHeightWithSpacing();
  return v.is_live() ? 0
                     : name + (v.output().is_writing() ? 3 * row : 2 * row) + ImGui::GetStyle().ItemSpacing.y;
}

namespace {

/// A handle of the passage, above the track of the time line.
struct PassageHandle {
  const char* name;
  std::optional<double> Passage::*end;
};

// Handles for the begin and the end of the passage. The time of the handle that is held, if one is.
std::optional<double> draw_handles(ControlItems& items, ImVec2 at, float width) {
  static constexpr std::array<PassageHandle, 2> kHandles{
      {{"begin", &Passage::begin}, {"end", &Passage::end}}};
  constexpr double kLeastLength = 0.04;
  Viewer& v = items.viewer();
  const Passage& passage = v.state().passage;
  const double duration = v.options().duration;
  const float s = items.scale();
  std::optional<double> held;
  for (const PassageHandle& handle : kHandles) {
    const bool is_end = handle.end == &Passage::end;
    const double time = (passage.*handle.end).value_or(is_end ? duration : 0);
    const float x = at.x + width * static_cast<float>(std::clamp(time / duration, 0.0, 1.0));
    const ImVec2 size{9 * s, 9 * s};
    const float left = std::clamp(is_end ? x : x - size.x, at.x, at.x + width - size.x);
    ImGui::SetCursorScreenPos({left, at.y});
    ImGui::InvisibleButton(handle.name, size);
    items.note(fmt::format("drag-passage {}", handle.name), tooltip_of(fmt::format("mark {}", handle.name)));
    const bool is_active = ImGui::IsItemActive();
    ImGui::GetWindowDrawList()->AddRectFilled({left, at.y}, {left + size.x, at.y + size.y},
                                              is_active || ImGui::IsItemHovered() ? kBarKnob : kBarHandle,
                                              2 * s);
    if (!is_active && !ImGui::IsItemDeactivated()) {
      continue;
    }
    const double share = std::clamp(double{(ImGui::GetIO().MousePos.x - at.x) / width}, 0.0, 1.0);
    const double least = is_end ? passage.begin.value_or(0) + kLeastLength : 0;
    const double most = is_end ? duration : passage.end.value_or(duration) - kLeastLength;
    const double pointed = std::max(std::min(share * duration, most), least);
    if (ImGui::IsItemDeactivated()) {
      v.request("release-passage");
    } else if (ImGui::GetIO().MouseDelta.x != 0) {
      v.request(fmt::format("drag-passage {} {:.6f}", handle.name, pointed));
    }
    held = is_active ? std::optional(pointed) : held;
  }
  ImGui::SetCursorScreenPos(at);
  return held;
}

// The track, what is played of it, the passage and the chapters.
void draw_track(const ControlItems& items, ImVec2 at, float width, float thickness) {
  const Viewer& v = items.viewer();
  const double duration = v.options().duration;
  const float bottom = at.y + kTimeLine * items.scale();
  const auto column = [&](double time) {
    return at.x + width * static_cast<float>(std::clamp(time / duration, 0.0, 1.0));
  };
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float knob = column(v.position());
  list->AddRectFilled({at.x, bottom - thickness}, {at.x + width, bottom}, kBarTrack);
  list->AddRectFilled({at.x, bottom - thickness}, {knob, bottom}, kBarPlayed);
  if (const Passage& passage = v.state().passage; passage != Passage{}) {
    list->AddRectFilled({column(passage.begin.value_or(0)), bottom - 2 * thickness},
                        {column(passage.end.value_or(duration)), bottom}, kBarPassage);
  }
  for (const io::Chapter& chapter : v.options().chapters) {
    const float x = column(chapter.begin);
    list->AddRectFilled({x, bottom - 2 * thickness}, {x + items.scale(), bottom}, kBarKnob);
  }
  list->AddCircleFilled(
      {std::clamp(knob, at.x + thickness, at.x + width - thickness), bottom - thickness / 2},
      thickness * 0.9F, kBarKnob);
}

void draw_time_line(ControlItems& items, float width) {
  Viewer& v = items.viewer();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::optional<double> handle = draw_handles(items, at, width);
  ImGui::InvisibleButton("time line", {width, kTimeLine * items.scale()});
  const float share = std::clamp((ImGui::GetIO().MousePos.x - at.x) / std::max(width, 1.0F), 0.0F, 1.0F);
  const double pointed = handle.value_or(v.options().duration * double{share});
  const bool held = ImGui::IsItemActive();
  const bool is_near = held || handle || ImGui::IsItemHovered();
  items.note("position", "");
  // While the pointer drags, each position is requested once.
  if (held && (ImGui::IsItemActivated() || ImGui::GetIO().MouseDelta.x != 0)) {
    v.request(fmt::format("set position {:.6f}", pointed));
  }
  draw_track(items, at, width, (is_near ? 8.0F : 4.0F) * items.scale());
  if (is_near) {
    const std::string time = time_text(pointed, handle.has_value());
    const ImVec2 size = ImGui::CalcTextSize(time.c_str());
    const float x = std::clamp(ImGui::GetIO().MousePos.x - size.x / 2, at.x, at.x + width - size.x);
    const ImVec2 corner{x, at.y - size.y - 4 * items.scale()};
    ImDrawList* const front = ImGui::GetForegroundDrawList();
    front->AddRectFilled({corner.x - 4, corner.y - 2}, {corner.x + size.x + 4, corner.y + size.y + 2},
                         kBarTime);
    front->AddText(corner, kBarKnob, time.c_str());
  }
}

void draw_volume(ControlItems& items) {
  Viewer& v = items.viewer();
  items.icon("toggle mute", v.state().muted ? Icon::kMuted : Icon::kVolume);
  auto value = static_cast<float>(v.state().muted ? 0 : v.number("volume"));
  ImGui::SetNextItemWidth(80 * items.scale());
  if (ImGui::SliderFloat("###volume bar", &value, 0, 100, "%.0f %%", ImGuiSliderFlags_AlwaysClamp)) {
    v.request(fmt::format("set volume {:.0f}", value));
  }
  items.note("volume", tooltip_of("volume"));
  ImGui::SameLine();
}

void draw_speed(ControlItems& items) {
  static constexpr std::array kSpeeds{0.1, 0.25, 0.5, 1.0, 2.0, 4.0};
  Viewer& v = items.viewer();
  const double speed = v.number("speed");
  ImGui::SetNextItemWidth(64 * items.scale());
  if (ImGui::BeginCombo("###speed", fmt::format("x{:.3g}", speed).c_str(), ImGuiComboFlags_NoArrowButton)) {
    for (const double each : kSpeeds) {
      const std::string line = fmt::format("set speed {:.3g}", each);
      if (ImGui::Selectable(fmt::format("x{:.3g}", each).c_str(), each == speed)) {
        v.request(line);
      }
      items.note(line, "");
    }
    ImGui::EndCombo();
  } else {
    items.note("speed", tooltip_of("speed"));
  }
  ImGui::SameLine();
}

// The position and, if known, the duration, and perhaps the number of the frame; with fractions of a second
// for short clips.
std::string times_text(double position, double duration, std::int64_t frame, bool has_number) {
  constexpr double kShort = 10;
  const bool fraction = duration > 0 && duration < kShort;
  return time_text(position, fraction) +
         (duration > 0 ? " / " + time_text(std::max(duration, position), fraction) : "") +
         (has_number ? fmt::format("   frame {}", frame) : "");
}

// In the width of the last frame's text, so that what follows stays where it is.
void draw_times(const Viewer& v, bool has_number) {
  constexpr int kMostRate = 60;
  const double duration = v.options().duration;
  const std::int64_t frame = v.shown()->noisy.index;
  const auto last = std::max(frame, static_cast<std::int64_t>(duration * kMostRate));
  const float begin = ImGui::GetCursorPosX();
  ImGui::TextUnformatted(times_text(v.position(), duration, frame, has_number).c_str());
  const std::string widest = times_text(std::max(duration, v.position()), duration, last, has_number);
  ImGui::SameLine(begin + ImGui::CalcTextSize(widest.c_str()).x + ImGui::GetStyle().ItemSpacing.x);
}

// Buttons at the right end, with words where there is room.
void draw_window_buttons(ControlItems& items, float units) {
  const Viewer& v = items.viewer();
  const float s = items.scale();
  const bool roomy = units > kVolumeWidth;
  const bool can_open = v.options().refuse_file != nullptr;
  const float width = (roomy ? 150.0F : 104.0F) + (can_open ? (roomy ? 58.0F : 34.0F) : 0);
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), (units - width) * s));
  if (can_open) {
    roomy ? items.button("open", "Open") : items.icon("open", Icon::kOpen);
  }
  roomy ? items.button("toggle panel", "Settings") : items.icon("toggle panel", Icon::kSettings);
  items.button("toggle help", "?");
  items.icon("toggle full-screen", v.number("full-screen") == 1 ? Icon::kWindow : Icon::kFull);
}

// Play, steps, time, speed and the passage, as far as the source has them and the width allows.
void draw_transport(ControlItems& items, float units) {
  const Viewer& v = items.viewer();
  items.icon("toggle pause", v.number("pause") == 1 ? Icon::kPlay : Icon::kPause);
  const bool is_film = v.is_in_scope(Scope::kFilm);
  if (is_film && units >= kStepsWidth) {
    items.icon("step -1", Icon::kBack);
    items.icon("step 1", Icon::kForward);
  }
  ImGui::AlignTextToFramePadding();
  if (v.is_live()) {
    ImGui::TextUnformatted("live");
    ImGui::SameLine();
  } else {
    draw_times(v, units >= kPassageWidth);
  }
  if (is_film && units >= kSpeedWidth) {
    draw_speed(items);
  }
  if (is_film && units >= kPassageWidth) {
    draw_passage(items);
  }
  if (v.has_audio() && units >= kVolumeWidth) {
    draw_volume(items);
  }
}

void draw_record(ControlItems& items) {
  const Viewer& v = items.viewer();
  const std::string recording = v.options().recording ? v.options().recording() : "";
  for (const ImGuiCol part : {ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive}) {
    ImGui::PushStyleColor(part, recording.empty() ? ImGui::GetColorU32(part) : kRecording);
  }
  items.button("record", recording.empty() ? "Record" : recording.c_str());
  ImGui::PopStyleColor(3);
}

}  // namespace

void draw_bar(ControlItems& items, io::Size window, int height, bool panel_is_open) {
  const Viewer& v = items.viewer();
  const auto width = static_cast<float>(window.width);
  const auto bottom = static_cast<float>(window.height);
  const auto top = bottom - static_cast<float>(height);
  const float s = items.scale();
  const float units = width / s;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{6 * s, 0});
  ImGui::SetNextWindowPos({0, top});
  ImGui::SetNextWindowSize({width, bottom - top});
  ImGui::Begin("bar", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::GetWindowDrawList()->AddRectFilled({0, top}, {width, bottom}, kBarGround);
  ImGui::SetCursorPos({8 * s, 5 * s});
  if (v.is_in_scope(Scope::kMoving)) {
    draw_transport(items, units);
  }
  if (v.is_live()) {
    draw_record(items);
  }
  if (v.output().is_writing() && !panel_is_open) {  // as wide as the other buttons allow
    draw_progress(items, std::clamp(width - 760 * s, 110 * s, 240 * s));
  }
  draw_window_buttons(items, units);
  if (v.player().can_seek() && v.options().duration > 0 && v.is_in_scope(Scope::kFilm)) {
    ImGui::SetCursorPos({0, bottom - top - kTimeLine * s});
    draw_time_line(items, width);
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
}

void draw_question(ControlItems& items, io::Size window) {
  const FileOutput& output = items.viewer().output();
  const std::string file = io::valid_utf8(std::filesystem::path(output.path()).filename().string());
  ImGui::SetNextWindowPos({static_cast<float>(window.width) / 2, static_cast<float>(window.height) / 2}, 0,
                          {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(static_cast<float>(window.width), static_cast<float>(430 * items.scale())), 0});
  ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowBgAlpha(1);
  ImGui::Begin("question", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::TextWrapped("%s is being written: %.0f %%", file.c_str(), 100 * output.progress().value_or(0));
  ImGui::Spacing();
  for (const QuitAnswer& answer : kQuitAnswers) {
    if (ImGui::Button(answer.label)) {
      items.viewer().request(fmt::format("answer {}", answer.name));
    }
    items.note(fmt::format("answer {}", answer.name), fmt::format("{}. Key: {}", answer.tooltip, answer.key));
    ImGui::SameLine();
  }
  ImGui::End();
}

}  // namespace limpid::app
