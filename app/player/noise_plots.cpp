// SPDX-License-Identifier: MIT
#include "app/player/noise_plots.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace limpid::app {
namespace {

constexpr ImU32 kPlotGround = IM_COL32(0, 0, 0, 160);
constexpr ImU32 kPlotInk = IM_COL32(200, 200, 200, 255);
constexpr ImU32 kPlotLine = IM_COL32(120, 180, 255, 255);

void draw_curve(const PlaneNoise& noise, ImVec2 at, ImVec2 size) {
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
  list->AddText({at.x + 4, at.y + size.y - ImGui::GetFontSize() - 2}, kPlotInk, "0");
  list->AddPolyline(points.data(), static_cast<int>(points.size()), kPlotLine, 0,
                    std::max(size.y / 40, 1.5F));
}

void draw_spectrum(const PlaneNoise& noise, ImVec2 at, float side) {
  constexpr int kCells = NoiseShape::kFrequencies;
  const float cell = side / kCells;
  for (int v = 0; v < kCells; ++v) {
    for (int u = 0; u < kCells; ++u) {
      // Variances from a quarter to four times the mean.
      const float value = std::log2(std::max(noise.shape.spectrum[v * kCells + u], 1e-3F)) / 4 + 0.5F;
      const auto light = static_cast<int>(std::clamp(value, 0.0F, 1.0F) * 255);
      const ImVec2 corner{at.x + static_cast<float>(u) * cell, at.y + static_cast<float>(v) * cell};
      ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + cell, corner.y + cell},
                                                IM_COL32(light / 2, light * 3 / 4, light, 255));
    }
  }
}

}  // namespace

void draw_noise_plots(const PlaneNoise& noise, float width, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = height / 8;
  const ImVec2 size{width - height - gap, height};
  draw_curve(noise, at, size);
  draw_spectrum(noise, {at.x + width - height, at.y}, height);
  ImGui::Dummy({width, height});
  ImGui::TextUnformatted("dark");
  ImGui::SameLine(size.x - ImGui::CalcTextSize("bright").x);
  ImGui::TextUnformatted("bright");
  ImGui::SameLine(width - ImGui::CalcTextSize("spectrum").x);
  ImGui::TextUnformatted("spectrum");
}

}  // namespace limpid::app
