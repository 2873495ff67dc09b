// SPDX-License-Identifier: MIT
// What the user of a window may change or do: tables of properties, commands and keys, which panels,
// tooltips, the help, options of the command line and tests walk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace limpid::app {

class Viewer;

/// The sources that a property, a command or a key is for.
enum class Scope : std::uint8_t {
  kAll,
  kMoving,  ///< videos and cameras
  kFilm,    ///< videos
  kFile,    ///< videos and pictures
  kCamera,
};
bool is_in_scope(Scope scope, bool live, bool still_picture);

/// Where the panel has the slider of a number.
enum class Place : std::uint8_t { kNone, kStrength, kNoise, kCompare };

/// The values of a number.
struct ValueRange {
  double least = 0;
  double most = 1;      ///< of a slider
  double limit = 1;     ///< of typed values and keys
  double step = 0;      ///< values are multiples of it; 0: any value
  double standard = 0;  ///< after a reset
  int decimals = 0;
  std::string_view unit;
};

/// A number, or one of several values that have names, such as "off" and "on".
struct Property {
  std::string_view name;
  std::string_view text;  ///< for tooltips
  Scope scope = Scope::kAll;
  ValueRange range;
  std::function<std::vector<std::string>(const Viewer&)> names;  ///< empty for a number
  std::function<double(const Viewer&)> get;                      ///< a number, or the index of a name
  std::function<void(Viewer&, double)> set;
  Place place = Place::kNone;
  const char* label = nullptr;                            ///< of the slider
  std::function<bool(const Viewer&)> is_shown = nullptr;  ///< whether the panel has it now; empty: always
  bool is_of_shader = false;  ///< kept in ViewState::shader_values, and a uniform of the shaders
};

/// An action, whose name may be followed by an argument.
struct WindowCommand {
  std::string_view name;
  std::string_view text;  ///< for tooltips
  Scope scope = Scope::kAll;
  bool repeats = false;  ///< while its key is held
  std::function<void(Viewer&, const std::string& argument)> run;
};

/// A key, as WindowEvent::key but for SPACE, and the line that it executes (Viewer::execute()).
struct KeyBinding {
  std::string_view key;
  std::string_view line;
};

/// Keys with one line of help.
struct KeyGroup {
  /// `bindings`: "g multiply gain 2; G multiply gain 0.5".
  KeyGroup(Scope of, std::string_view by_mouse, std::string_view text, std::string_view bindings);

  Scope scope = Scope::kAll;
  std::string_view mouse;  ///< action of the mouse with the same effect
  std::string_view help;
  std::vector<KeyBinding> keys;
};

const std::vector<Property>& properties();
const std::vector<WindowCommand>& window_commands();
const std::vector<KeyGroup>& key_groups();

/// Null if there is none of that name.
const Property* find_property(std::string_view name);
const WindowCommand* find_window_command(std::string_view name);

/// "[ ] BACKSPACE", with the action of the mouse.
std::string keys_text(const KeyGroup& group);
/// The keys that execute a line, or begin it and change a property: "g, G" for "multiply gain"; empty if
/// there are none.
std::string keys_of(std::string_view line);
/// The first of them, for hints.
std::string key_of(std::string_view line);
/// The text of a property or command, with its keys, for a control that executes a line or changes a
/// property.
std::string tooltip_of(std::string_view line);
/// Lines of help: keys and action with a separator between them; without one in two columns of equally wide
/// letters.
std::vector<std::string> key_help_lines(const std::vector<KeyGroup>& groups);

}  // namespace limpid::app
