// SPDX-License-Identifier: MIT
#include "app/player/osd.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "app/console/text.h"
#include "app/pipeline/noise_text.h"
#include "io/screen/control_layer.h"

namespace limpid::app {
namespace {

constexpr ImU32 kTextGround = IM_COL32(0, 0, 0, 192);
constexpr ImU32 kTextInk = IM_COL32(255, 255, 255, 255);

}  // namespace

TextBox::TextBox(const std::vector<std::string>& lines, int line, int width)
    : pixels_(static_cast<float>(line)) {
  const float margin = std::max(std::round(pixels_ / 3), 2.0F);
  const float inner = std::max(static_cast<float>(width) - 2 * margin, 1.0F);
  // The first column is as wide as it needs, up to two fifths.
  float second = 0;
  for (const std::string& each : lines) {
    if (const std::size_t tab = each.find('\t'); tab != std::string::npos) {
      second = std::max(second,
                        std::min(std::ceil(extent(each.substr(0, tab), 0).x) + 1, inner * 2 / 5) + pixels_);
    }
  }
  float y = margin;
  float widest = 0;
  for (const std::string& each : lines) {
    float bottom = y + pixels_;
    const auto add = [&](const std::string& text, float x, float most) {
      most = std::max(most, pixels_);  // at least a letter
      const ImVec2 size = extent(text, most);
      widest = std::max(widest, x + std::min(size.x, most));
      bottom = std::max(bottom, y + size.y);
      pieces_.push_back({text, {margin + x, y}, most});
    };
    if (const std::size_t tab = each.find('\t'); tab == std::string::npos) {
      add(each, 0, inner);
    } else {
      add(each.substr(0, tab), 0, second - pixels_);
      add(each.substr(tab + 1), second, inner - second);
    }
    y = bottom;
  }
  size_ = {static_cast<int>(std::ceil(std::min(widest, inner) + 2 * margin)),
           static_cast<int>(std::ceil(y + margin))};
}

ImVec2 TextBox::extent(const std::string& text, float width) const {
  return io::ControlLayer::overlay_font()->CalcTextSizeA(pixels_, FLT_MAX, width, text.data(),
                                                         text.data() + text.size());
}

void TextBox::draw(int x, int y) const {
  ImDrawList* const list = ImGui::GetBackgroundDrawList();
  const ImVec2 corner{static_cast<float>(x), static_cast<float>(y)};
  list->AddRectFilled(
      corner, {corner.x + static_cast<float>(size_.width), corner.y + static_cast<float>(size_.height)},
      kTextGround);
  for (const auto& [text, at, width] : pieces_) {
    list->AddText(io::ControlLayer::overlay_font(), pixels_, {corner.x + at.x, corner.y + at.y}, kTextInk,
                  text.data(), text.data() + text.size(), width);
  }
}

std::vector<std::string> to_lines(const Statistics& statistics, Detail detail) {
  const Statistics& s = statistics;
  std::string position = time_text(s.position);
  if (s.duration > 0) {
    // The duration in a container may exclude the duration of the last frame.
    position += " / " + time_text(std::max(s.duration, s.position));
  }
  position += fmt::format("   frame {}   {}", s.frame, s.state);
  std::string sigma = "sigma";
  for (std::size_t plane = 0; plane < s.planes.size() && plane < s.level.sigma.size(); ++plane) {
    sigma += fmt::format("  {} {}", s.planes[plane], level_text(s.level.sigma[plane]));
  }
  sigma += fmt::format("   ({}{}{})", s.estimated ? "estimated" : "set", s.noise_shape.empty() ? "" : ", ",
                       s.noise_shape);
  sigma += s.strength.empty() ? "" : "   strength " + s.strength;
  const std::string filter =
      fmt::format("filter {}{}{}", s.filter, s.profile.empty() ? "" : "   profile " + s.profile,
                  s.keeps_pace ? "   (automatic)" : "");
  if (detail == Detail::kLeast) {
    return {position};
  }
  if (detail == Detail::kFew) {
    return {position, filter, sigma};
  }
  std::vector<std::string> lines{s.source, s.format, position};
  std::string rates;
  if (s.source_fps > 0) {
    rates = fmt::format("source {:.4g} fps   ", s.source_fps);
  }
  if (s.runs) {
    rates += fmt::format("shown {:.1f} fps   ", s.shown_fps);
  }
  lines.push_back(rates + fmt::format("dropped {}", s.dropped));
  const std::string latency =
      fmt::format("{} {:.1f} ms", s.live ? "latency" : "frame latency", 1000 * s.latency);
  lines.push_back(s.runs ? fmt::format("denoise {:.1f} fps (alone {:.1f})   {}", s.denoise_fps,
                                       s.denoise_fps_alone, latency)
                         : latency);
  lines.push_back(fmt::format("engine {}   {}", s.engine, filter));
  lines.push_back(sigma);
  std::string loads;
  for (const auto& [stage, share] : s.loads) {
    loads += fmt::format("  {} {:.0f}%", stage, 100 * share);
  }
  if (s.runs && !loads.empty()) {
    lines.push_back("load" + loads);
  }
  return lines;
}

int text_size(io::Size window, double scale, double factor) {
  constexpr double kUsual = 16;
  constexpr double kLeast = 9;
  const double wished = std::max(kUsual * scale, window.height / 70.0) * factor;
  const double fitting = std::min(window.width / 26.0, window.height / 16.0) * std::max(factor, 1.0);
  return static_cast<int>(std::lround(std::max(std::min(wished, fitting), kLeast)));
}

int text_margin(int line) { return line / 3; }

TextBox statistics_box(const Statistics& statistics, int line, io::Size window) {
  // Most of the picture stays visible.
  constexpr double kGreatestShare = 0.25;
  const int inner = window.width - 2 * text_margin(line);
  const int width = std::max(inner * 3 / 5, std::min(inner, 16 * line));
  for (const Detail detail : {Detail::kAll, Detail::kFew}) {
    TextBox box(to_lines(statistics, detail), line, width);
    if (static_cast<double>(box.size().width) * box.size().height <=
        kGreatestShare * window.width * window.height) {
      return box;
    }
  }
  return {to_lines(statistics, Detail::kLeast), line, width};
}

TextBox help_box(const std::vector<std::string>& lines, int line, io::Size window) {
  constexpr int kLeast = 7;
  const int margin = text_margin(line);
  TextBox box(lines, line, window.width - 2 * margin);
  for (int lower = line - 1; box.size().height > window.height - 2 * margin && lower >= kLeast; --lower) {
    box = TextBox(lines, lower, window.width - 2 * margin);
  }
  return box;
}

}  // namespace limpid::app
