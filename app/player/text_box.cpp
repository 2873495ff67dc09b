// SPDX-License-Identifier: MIT
#include "app/player/text_box.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

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

}  // namespace limpid::app
