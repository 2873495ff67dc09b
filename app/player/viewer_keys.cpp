// SPDX-License-Identifier: MIT
// The table of the keys of the window.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "app/player/osd.h"
#include "app/player/viewer.h"

namespace limpid::app {
namespace {

constexpr double kSpeedStep = 1.1;

using ViewerAction = std::function<void(Viewer&)>;

/// A key, or several of them, with what they do.
struct KeyBinding {
  std::string_view key;  ///< WindowEvent::key
  ViewerAction action;
  bool repeats = false;  ///< the action is repeated while the key is held
};

/// A line of the help.
struct KeyLine {
  KeyScope scope = KeyScope::kAll;
  std::string_view mouse;  ///< action of the mouse with the same effect
  std::string_view help;
  std::vector<KeyBinding> keys;
};

std::string text_of(const KeyLine& line) {
  std::string text;
  for (const KeyBinding& binding : line.keys) {
    text += (text.empty() ? "" : " ") + std::string(binding.key == " " ? "SPACE" : binding.key);
  }
  return text + (line.mouse.empty() ? "" : ", " + std::string(line.mouse));
}

}  // namespace

/// The table of the keys of the window.
struct ViewerKeys {
  using Editor = SettingsEditor;

  static std::vector<KeyLine> playing();
  static std::vector<KeyLine> settings();
  static std::vector<KeyLine> sides();
  static std::vector<KeyLine> view();
  static std::vector<KeyLine> files();
  static const std::vector<KeyLine>& table();
  /// The binding of a key, and its line; nothing if it has none for this source.
  static std::pair<const KeyLine*, const KeyBinding*> find(const std::string& key);

  /// Flips a switch of the view, and shows its new state.
  static ViewerAction toggle(bool ViewState::*shown, const char* on, const char* off);

  // Actions that change settings.
  template <typename Make>
  static ViewerAction edit(Make make);
  static ViewerAction level(int direction, bool chroma_alone);
  static ViewerAction strength(int direction, bool luma);
  static ViewerAction step(Editor::Edit (Editor::*change)(PlayerSettings, int) const, int direction);
  static ViewerAction change(Editor::Edit (Editor::*change)(PlayerSettings) const);
  static ViewerAction undo(Editor::Edit (Editor::*undo)(const PlayerSettings&));
};

ViewerAction ViewerKeys::toggle(bool ViewState::*shown, const char* on, const char* off) {
  return [shown, on, off](Viewer& v) {
    v.state_.*shown = !(v.state_.*shown);
    v.notice(v.state_.*shown ? on : off);
  };
}

std::vector<KeyLine> ViewerKeys::playing() {
  const auto seek = [](double seconds) {
    return [seconds](Viewer& v) { v.seek_to(v.player_->position() + seconds); };
  };
  const auto speed = [](double factor) {
    return [factor](Viewer& v) { v.change_speed(factor > 0 ? v.player_->speed() * factor : 1); };
  };
  const auto volume = [](double more) {
    return [more](Viewer& v) { v.change_volume(v.state_.volume + more); };
  };
  const auto pause = [](Viewer& v) { v.toggle_pause(); };
  const auto step_back = [](Viewer& v) { v.step_back(); };
  const auto end = [](Viewer& v) {
    if (v.options_.duration <= 0) {
      return v.notice("the duration of this source is not known");
    }
    v.player_->set_paused(true);  // to be looked at
    v.seek_to(v.options_.duration);
  };
  return {{KeyScope::kMoving, "click", "pause, play", {{" ", pause}, {"p", pause}}},
          {KeyScope::kMoving,
           "",
           "one frame forward, back",
           {{".", [](Viewer& v) { v.player_->step_forward(); }, true}, {",", step_back, true}}},
          {KeyScope::kFilm,
           "",
           "5 s, 1 s, 1 min back, forward",
           {{"LEFT", seek(-5), true},
            {"RIGHT", seek(5), true},
            {"Shift+LEFT", seek(-1), true},
            {"Shift+RIGHT", seek(1), true},
            {"DOWN", seek(-60), true},
            {"UP", seek(60), true}}},
          {KeyScope::kFilm,
           "",
           "go to the beginning, the end; previous, next chapter",
           {{"HOME", [](Viewer& v) { v.seek_to(0); }},
            {"END", end},
            {"PGDN", [](Viewer& v) { v.go_to_chapter(-1); }},
            {"PGUP", [](Viewer& v) { v.go_to_chapter(1); }}}},
          {KeyScope::kFilm,
           "",
           "slower, faster, normal, half, double speed",
           {{"[", speed(1 / kSpeedStep), true},
            {"]", speed(kSpeedStep), true},
            {"BACKSPACE", speed(0)},
            {"{", speed(0.5)},
            {"}", speed(2)}}},
          {KeyScope::kMoving,
           "",
           "lower, raise the volume; mute",
           {{"9", volume(-0.1), true},
            {"0", volume(0.1), true},
            {"/", volume(-0.1), true},
            {"*", volume(0.1), true},
            {"m", [](Viewer& v) { v.toggle_mute(); }}}}};
}

// Does an edit, which is a function of the editor, the settings in use and the estimated noise.
template <typename Make>
ViewerAction ViewerKeys::edit(Make make) {
  return [make](Viewer& v) {
    const Editor::Edit made = make(v.editor_, v.player_->settings(), v.shown_->noise);
    v.change_settings(made.settings, made.text);
  };
}

ViewerAction ViewerKeys::level(int direction, bool chroma_alone) {
  return edit([=](const Editor& e, const PlayerSettings& now, const NoiseModel& noise) {
    return e.level(now, noise, direction, !chroma_alone || e.is_linked(), true);
  });
}

ViewerAction ViewerKeys::strength(int direction, bool luma) {
  return edit([=](const Editor& e, const PlayerSettings& now, const NoiseModel&) {
    return e.strength(now, direction, luma, !luma);
  });
}

ViewerAction ViewerKeys::step(Editor::Edit (Editor::*change)(PlayerSettings, int) const, int direction) {
  return edit([=](const Editor& e, const PlayerSettings& now, const NoiseModel&) {
    return (e.*change)(now, direction);
  });
}

ViewerAction ViewerKeys::change(Editor::Edit (Editor::*change)(PlayerSettings) const) {
  return edit(
      [=](const Editor& e, const PlayerSettings& now, const NoiseModel&) { return (e.*change)(now); });
}

ViewerAction ViewerKeys::undo(Editor::Edit (Editor::*undo)(const PlayerSettings&)) {
  return [undo](Viewer& v) {
    const Editor::Edit made = (v.editor_.*undo)(v.player_->settings());
    v.apply_settings(made.settings, made.text);
  };
}

std::vector<KeyLine> ViewerKeys::settings() {
  const auto by_hand = edit([](const Editor& e, const PlayerSettings& now, const NoiseModel& noise) {
    return e.level_by_hand(now, noise);
  });
  const auto link = [](Viewer& v) {
    v.editor_.toggle_linked();
    v.notice(v.editor_.is_linked() ? "luma and chroma linked" : "luma and chroma separate");
  };
  constexpr KeyScope kAll = KeyScope::kAll;
  return {{kAll,
           "",
           "raise, lower the strength",
           {{"Shift+UP", strength(1, true), true}, {"Shift+DOWN", strength(-1, true), true}}},
          {kAll,
           "",
           "raise, lower the strength of chroma",
           {{"Ctrl+UP", strength(1, false), true}, {"Ctrl+DOWN", strength(-1, false), true}}},
          {kAll,
           "",
           "more, less of the original in the result",
           {{"d", step(&Editor::mix, 1), true}, {"D", step(&Editor::mix, -1), true}}},
          {kAll,
           "",
           "undo, redo the last change of a setting",
           {{"Ctrl+Z", undo(&Editor::undo)}, {"Ctrl+Y", undo(&Editor::redo)}}},
          {kAll,
           "",
           "raise, lower the noise level",
           {{"+", level(1, false), true}, {"=", level(1, false), true}, {"-", level(-1, false), true}}},
          {kAll,
           "",
           "lower, raise the level of chroma",
           {{"(", level(-1, true), true}, {")", level(1, true), true}}},
          {kAll,
           "",
           "noise: estimated, by hand; link luma and chroma",
           {{"a", change(&Editor::estimated_level)}, {"v", by_hand}, {"k", link}}},
          {kAll,
           "drag with the right button",
           "measure the noise in a flat area",
           {{"n", [](Viewer& v) { v.propose_box(); }}}},
          {kAll,
           "",
           "use a noise profile or settings; save the noise",
           {{"N", [](Viewer& v) { v.show_files(true); }},
            {"Ctrl+N", [](Viewer& v) { v.output_.save_noise(v.player_->settings().noise); }}}},
          {kAll,
           "",
           "next, previous filter; next, previous profile",
           {{"e", step(&Editor::filter, 1)},
            {"E", step(&Editor::filter, -1)},
            {"c", step(&Editor::profile, 1)},
            {"C", step(&Editor::profile, -1)}}},
          {kAll, "", "quality that keeps pace, or always this filter", {{"Q", change(&Editor::pace)}}},
          {kAll,
           "",
           "flip between the settings A and B; copy to the other",
           {{"b", [](Viewer& v) { v.flip_settings(); }}, {"B", [](Viewer& v) { v.copy_settings(); }}}}};
}

std::vector<KeyLine> ViewerKeys::sides() {
  const auto side = [](Side chosen) { return [chosen](Viewer& v) { v.change_side(chosen); }; };
  const auto gain = [](double factor) {
    return [factor](Viewer& v) { v.change_gain(v.state_.gain * factor); };
  };
  const auto swap = toggle(&ViewState::swapped, "denoised on the left", "denoised on the right");
  const auto pixels = toggle(&ViewState::pixels, "pixel values", "no pixel values");
  constexpr KeyScope kAll = KeyScope::kAll;
  return {
      {kAll,
       "",
       "noisy, denoised, split, side by side, difference",
       {{"1", side(Side::kNoisy)},
        {"2", side(Side::kDenoised)},
        {"3", side(Side::kSplit)},
        {"4", side(Side::kSideBySide)},
        {"6", side(Side::kDifference)}}},
      {KeyScope::kFile, "", "A left of the line, B right of it", {{"5", [](Viewer& v) { v.show_pair(); }}}},
      {kAll, "", "gain of the difference", {{"g", gain(2), true}, {"G", gain(0.5), true}}},
      {kAll,
       "",
       "swap the sides; mirror; values of the pixel below the pointer",
       {{"x", swap}, {"h", [](Viewer& v) { v.toggle_mirror(); }}, {"P", pixels}}}};
}

std::vector<KeyLine> ViewerKeys::view() {
  const auto zoom = [](bool greater) {
    return [greater](Viewer& v) {
      const int next = v.screen_.view().next_zoom(greater, v.screen_.picture_area(v.state_.side));
      v.change_zoom(greater && next == v.screen_.view().zoom() ? 0 : next, v.mouse_.position());
    };
  };
  const auto lock = [](Viewer& v) {
    v.screen_.split().toggle_lock();
    v.notice(v.screen_.split().locked() ? "split line locked" : "split line follows the pointer");
  };
  const auto center = [](Viewer& v) {
    v.screen_.split().center();
    v.notice("split line in the middle");
  };
  const auto panel = [](Viewer& v) {
    v.screen_.controls().toggle_panel();
    v.notice(v.screen_.controls().is_open() ? "settings open" : "settings closed");
  };
  const auto statistics = toggle(&ViewState::statistics, "statistics", "no statistics");
  const auto help = toggle(&ViewState::help, "keys", "");
  constexpr KeyScope kAll = KeyScope::kAll;
  return {
      {kAll, "drag", "move, unlock, center the split line", {{"t", lock}, {"|", center}}},
      {kAll, "wheel", "zoom in, out; drag to move", {{"z", zoom(true)}, {"Z", zoom(false)}}},
      {kAll,
       "double click",
       "full screen",
       {{"f", [](Viewer& v) { v.screen_.window().toggle_full_screen(); }}}},
      {kAll, "", "open, close the settings", {{"TAB", panel}}},
      {kAll, "", "statistics; these keys", {{"i", statistics}, {"?", help}}},
      {kAll, "", "close the list, help, area or full screen", {{"ESC", [](Viewer& v) { v.close_top(); }}}},
      {kAll, "", "quit", {{"q", [](Viewer& v) { v.ask_to_quit(); }}}}};
}

std::vector<KeyLine> ViewerKeys::files() {
  // A quarter of a frame more than the frames have, so that rounding leaves none out.
  const auto mark = [](std::optional<double> Passage::*end, double frames) {
    return [end, frames](Viewer& v) {
      v.mark_passage(v.state_.passage.*end, v.position() + frames / v.player_options_.frames_per_second);
    };
  };
  const auto whole = [](Viewer& v) { v.show_whole(); };
  const auto loop = [](Viewer& v) { v.step_loop(); };
  const auto record = [](Viewer& v) {
    v.notice(v.options_.toggle_recording ? v.options_.toggle_recording() : "this source is not recorded");
  };
  const auto pictures = [](Viewer& v) {
    const bool noisy_left = v.state_.swapped == v.state_.mirrored;
    v.save([&v, noisy_left] { v.output_.save_pictures(*v.shown_, v.screen_.split_column(), noisy_left); });
  };
  const auto window = [](Viewer& v) {
    v.save([&v] {
      v.draw();
      v.output_.save_window(v.screen_.window().snapshot(), v.shown_->noisy.index);
    });
  };
  const auto loopback = [](Viewer& v) {
    v.notice(v.options_.toggle_loopback ? v.options_.toggle_loopback() : "there is no loopback device");
  };
  return {
      {KeyScope::kFilm,
       "drag the handles",
       "begin, end of the passage; the whole file; loop: set both ends, stop",
       {{"I", mark(&Passage::begin, -0.25)}, {"O", mark(&Passage::end, 0.75)}, {"X", whole}, {"l", loop}}},
      {KeyScope::kFile,
       "",
       "write the passage or file in the background; cancel that",
       {{"w", [](Viewer& v) { v.output_.start(v.player_->settings(), v.state_.passage); }},
        {"W", [](Viewer& v) { v.output_.cancel(); }}}},
      {KeyScope::kFile,
       "",
       "copy the command of this result",
       {{"Ctrl+C", [](Viewer& v) { v.copy_command(); }}}},
      {KeyScope::kAll,
       "",
       "save these settings",
       {{"Ctrl+S", [](Viewer& v) { v.output_.save_settings(v.settings()); }}}},
      {KeyScope::kFile, "drop a file", "open a file", {{"Ctrl+O", [](Viewer& v) { v.show_files(false); }}}},
      {KeyScope::kAll,
       "",
       "save pictures: noisy, denoised and split; the window",
       {{"s", pictures}, {"S", window}}},
      {KeyScope::kCamera,
       "",
       "record; be a camera for others; next camera",
       {{"r", record}, {"L", loopback}, {"V", [](Viewer& v) { v.show_next_camera(); }}}}};
}

const std::vector<KeyLine>& ViewerKeys::table() {
  static const std::vector<KeyLine> all = [] {
    std::vector<KeyLine> lines;
    for (std::vector<KeyLine> some : {playing(), settings(), sides(), view(), files()}) {
      std::ranges::move(some, std::back_inserter(lines));
    }
    return lines;
  }();
  return all;
}

std::pair<const KeyLine*, const KeyBinding*> ViewerKeys::find(const std::string& key) {
  for (const KeyLine& line : table()) {
    const auto binding = std::ranges::find(line.keys, key, &KeyBinding::key);
    if (binding != line.keys.end()) {
      return {&line, &*binding};
    }
  }
  return {};
}

const std::vector<KeyHelp>& key_help() {
  static const std::vector<KeyHelp> help = [] {
    std::vector<KeyHelp> lines;
    for (const KeyLine& line : ViewerKeys::table()) {
      KeyHelp& each = lines.emplace_back(KeyHelp{text_of(line), std::string(line.help), line.scope, {}});
      for (const KeyBinding& binding : line.keys) {
        each.names.emplace_back(binding.key);
      }
    }
    return lines;
  }();
  return help;
}

void Viewer::press(const std::string& key, bool repeats) {
  restore_pair();
  if (notices_.dismiss()) {
    screen_.redraw();
  }
  if (shown_ == nullptr && key != "q") {
    if (!repeats) {
      early_keys_.push_back(key);
    }
    return;
  }
  const auto [line, binding] = ViewerKeys::find(key);
  if (line == nullptr || (repeats && !binding->repeats)) {
    return;
  }
  if (!is_in_scope(line->scope, player_options_.live, options_.still_picture)) {
    return notice(fmt::format("{}: {}", text_of(*line),
                              line->scope == KeyScope::kCamera ? "only for cameras"
                              : player_options_.live           ? "not for cameras"
                                                               : "not for pictures"));
  }
  binding->action(*this);
}

}  // namespace limpid::app
