// SPDX-License-Identifier: MIT
#pragma once

#include <imgui.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/player/properties.h"
#include "io/media/display_properties.h"
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

/// An answer to the question before the window closes while a file is written.
struct QuitAnswer {
  const char* name;  ///< argument of the command "answer"
  const char* key;
  const char* label;
  const char* tooltip;
};
inline constexpr std::array<QuitAnswer, 3> kQuitAnswers{
    {{"finish", "ENTER", "Quit and finish the file", "The file is finished without the window"},
     {"cancel", "c", "Cancel it", "Quit, and keep what is written so far"},
     {"back", "ESC", "Back", "Keep the window"}}};

/// Controls of ImGui that show the properties of a Viewer and request its commands. The name of a control is
/// its property or the line that it requests.
class ControlItems {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins a frame. `scale`: pixels to a unit of 1/96 inch. `tooltips`: no list is in front of the controls.
  void begin(Viewer& viewer, float scale, Clock::time_point now, bool tooltips);
  void end();

  Viewer& viewer() const { return *viewer_; }
  float scale() const { return scale_; }
  /// When the tooltip of the item below the pointer appears; nothing if there is none to come.
  std::optional<Clock::time_point> tooltip_at() const;
  /// No tooltip appears until the pointer is on another item.
  void hide_tooltip() { has_tooltip_ = hides_tooltip_ = true; }
  /// Where tooltips of the next items appear: left of a column of the window, or above a row of it.
  void put_tooltips_left_of(float x) { tooltip_edge_ = {x, -1}; }
  void put_tooltips_above(float y) { tooltip_edge_ = {-1, y}; }

  /// A button that requests a line. It looks pressed while "set" or "toggle" has nothing to change. The next
  /// item is in the same row.
  void button(std::string_view line, const char* label);
  /// A square button.
  void icon(std::string_view line, Icon icon);
  /// A slider and a field for typing, over the whole width, behind their label. A double click on the slider
  /// or the label resets the value.
  void slider(std::string_view name, const char* label);
  /// The sliders of a place in the panel, which the table of properties has.
  void sliders(Place place);
  /// A list of the names of a property. `shown`: instead of the present name.
  void list(std::string_view name, float width, const char* shown = nullptr);
  /// Notes the last item of ImGui as a control. An empty tooltip does not appear.
  void note(std::string_view name, const std::string& tooltip);
  /// The place of a control in the last frame; nothing if there is none.
  std::optional<io::Rectangle> place(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::optional<double> typed_value(const std::string& name, const Property& property);
  bool is_chosen(std::string_view line) const;

  Viewer* viewer_ = nullptr;
  float scale_ = 1;
  ImVec2 tooltip_edge_;
  std::map<std::string, io::Rectangle> places_;
  Clock::time_point now_;
  std::string pointed_;  ///< item below the pointer, in this frame
  std::string last_pointed_;
  Clock::time_point pointed_since_;
  bool tooltips_ = true;
  bool has_tooltip_ = false;
  bool hides_tooltip_ = false;
  std::string reset_;  ///< slider that is held after its reset
  std::string typed_;  ///< text of the field that is used
};

/// The number at the beginning of a text, with a decimal comma or point; nothing if there is none.
std::optional<double> parse_number(std::string text);

/// The bar at the bottom of the window, which appears when the pointer moves and hides when it rests, and the
/// panel, which is open until it is closed. The open panel and the bar have their own space: the panel is at
/// the right side of wide windows, and below the picture in others.
class Controls {
 public:
  using Clock = std::chrono::steady_clock;

  /// `automatic`: the bar appears when the pointer moves; otherwise only with the panel.
  explicit Controls(bool automatic) : automatic_(automatic) {}

  /// The pointer has moved, or a button has been pressed. `holds`: it is on a control or holds one.
  void notice_pointer(Clock::time_point now, bool holds);
  /// Opens the panel, or closes it.
  void open_panel(bool open) { open_ = open; }
  bool is_open() const { return open_; }
  bool is_visible(Clock::time_point now) const { return open_ || now < visible_until_; }
  /// When a tooltip appears; nothing if there is none to come.
  std::optional<Clock::time_point> tooltip_at(Clock::time_point now) const {
    return is_visible(now) ? items_.tooltip_at() : std::nullopt;
  }
  void hide_tooltip() { items_.hide_tooltip(); }
  /// When the bar hides or a tooltip appears; nothing if neither is to come.
  std::optional<Clock::time_point> changes_at(Clock::time_point now) const;
  /// The part of the window that is for pictures, from its left upper corner.
  io::Size stage(io::Size window, double scale) const;
  /// Height of the bar, in pixels.
  static int bar_height(double scale);
  const ControlItems& items() const { return items_; }
  ControlItems& items() { return items_; }

  /// Draws them, between ControlLayer::begin() and end(). `labels`: height of the labels above the bar, which
  /// tooltips do not cover.
  void draw(Viewer& viewer, io::Size window, double scale, int labels, Clock::time_point now);
  /// Ends the frame.
  void end() { items_.end(); }

 private:
  void draw_panel(io::Size window);

  bool automatic_;
  bool open_ = false;
  Clock::time_point visible_until_;
  ControlItems items_;
};

/// Draws the contents of the panel, and the bar over the whole width of the window.
void draw_panel_rows(ControlItems& items);
void draw_write_row(ControlItems& items);
float write_row_height(const ControlItems& items);
void draw_bar(ControlItems& items, io::Size window, int height, bool panel_is_open);
void draw_question(ControlItems& items, io::Size window);
/// Draws the progress of the file that is written, and the button that cancels it. `width`: in pixels; 0: the
/// rest of the row.
void draw_progress(ControlItems& items, float width);
/// Draws buttons for the passage. `is_roomy`: the bar is wide enough for them, so that the panel has none.
void draw_passage(ControlItems& items);

/// A list of the files of a folder, from which the user chooses one, with the pointer or with keys. Throws
/// nothing: an unreadable folder is an empty list with a message.
class FileList {
 public:
  /// io::ControlLayer::text().
  using TextOf = std::function<std::string(const std::string& text)>;
  /// True for the names of files that are listed. Folders are always listed.
  using Wanted = std::function<bool(const std::string& name)>;

  /// Shows the files of `folder`. `title`: what to choose.
  void open(const std::filesystem::path& folder, std::string title, Wanted wanted) {
    title_ = std::move(title);
    wanted_ = std::move(wanted);
    open_ = true;
    list(folder);
  }
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  /// The folder that is shown.
  const std::filesystem::path& folder() const { return folder_; }

  /// Takes a key, as WindowEvent::key. The file that was chosen with it.
  std::optional<std::filesystem::path> press(const std::string& key);
  /// Draws the list in the middle of the window. The file that was chosen with the pointer.
  std::optional<std::filesystem::path> draw(io::Size window, ControlItems& items, const TextOf& text_of);

 private:
  struct Entry {
    std::string name;
    bool is_folder = false;
  };

  void list(const std::filesystem::path& folder);
  void draw_title(const TextOf& text_of) const {
    ImGui::TextUnformatted(title_.c_str());
    ImGui::SameLine();
    ImGui::TextUnformatted(text_of(failure_.empty() ? folder_.string() : failure_).c_str());
  }
  void draw_rows(std::size_t count, ControlItems& items, const TextOf& text_of,
                 std::optional<std::size_t>& chosen);
  /// Enters a folder, or returns the file.
  std::optional<std::filesystem::path> choose(std::size_t entry);
  void select_by_letter(const std::string& letter);

  bool open_ = false;
  std::string title_;
  Wanted wanted_;
  std::filesystem::path folder_;
  std::string failure_;
  std::vector<Entry> entries_;
  std::size_t selected_ = 0;
  std::size_t first_ = 0;  ///< the entry in the first line
};

}  // namespace limpid::app
