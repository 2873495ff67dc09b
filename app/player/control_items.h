// SPDX-License-Identifier: MIT
#pragma once

#include <imgui.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "io/screen/window.h"

namespace limpid::app {

enum class Icon : std::uint8_t {
  kPlay,
  kPause,
  kBack,
  kForward,
  kOpen,
  kSettings,
  kFull,
  kWindow,
  kVolume,
  kMuted
};

/// The values that a slider and its field can have.
struct ValueRange {
  float least = 0;
  float most = 1;      ///< of the slider
  float limit = 1;     ///< of typed values
  float standard = 0;  ///< after a reset
  int decimals = 0;
  const char* unit = "";
};

/// The controls of a frame of ImGui. Each has a name, a tooltip with its keys, and a place in the window,
/// which the log of level debug reports when it changes: "control: play at 20,350".
class ControlItems {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins a frame. `scale`: pixels to a unit of 1/96 inch.
  void begin(float scale, Clock::time_point now);
  /// Reports the places that have changed.
  void end();

  float scale() const { return scale_; }
  /// When the tooltip of the item below the pointer appears; nothing if there is none to come.
  std::optional<Clock::time_point> tooltip_at() const;
  /// Where tooltips of the next items appear: left of a column of the window, or above a row of it.
  void put_tooltips_left_of(float x) { tooltip_edge_ = {x, -1}; }
  void put_tooltips_above(float y) { tooltip_edge_ = {-1, y}; }

  /// A button. True if it has been clicked.
  bool button(const char* name, const char* label, const char* tooltip);
  /// A button that looks pressed if `chosen`.
  bool choice(const char* name, const char* label, bool chosen, const char* tooltip);
  /// A square button.
  bool icon(const char* name, Icon icon, const char* tooltip);
  /// A slider and a field for typing, over the whole width, behind their label. A double click on the slider
  /// or the label resets the value. True if the value has changed.
  bool value(const char* name, const char* label, float& value, const ValueRange& range, const char* tooltip);
  /// Notes the last item of ImGui as a control. An empty tooltip does not appear.
  void note(const char* name, const char* tooltip);

 private:
  bool typed_value(const char* name, float& value, const ValueRange& range);

  float scale_ = 1;
  ImVec2 tooltip_edge_;
  std::map<std::string, io::Rectangle> places_;
  std::map<std::string, io::Rectangle> last_places_;
  Clock::time_point now_;
  std::string pointed_;  ///< item below the pointer, in this frame
  std::string last_pointed_;
  Clock::time_point pointed_since_;
  bool has_tooltip_ = false;
  std::string reset_;  ///< slider that is held after its reset
  std::string typed_;  ///< text of the field that is used
};

/// Draws an icon in a square around a point.
void draw_icon(ImDrawList& list, Icon icon, ImVec2 center, float side, ImU32 ink);

/// The number at the beginning of a text, with a decimal comma or point; nothing if there is none.
std::optional<float> parse_number(std::string text);

}  // namespace limpid::app
