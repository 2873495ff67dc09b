// SPDX-License-Identifier: MIT
// The actions of the keys of the window.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/console/time_text.h"
#include "app/pipeline/noise_text.h"
#include "app/player/osd.h"
#include "app/player/viewer.h"
#include "core/base/error.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/plane_names.h"
#include "core/frame/region.h"
#include "core/settings/noise_profile.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
namespace {

constexpr double kSpeedStep = 1.1;
constexpr double kSlowest = 0.05;
constexpr double kFastest = 20;

// The region of the stored frame that a part of the picture on the screen shows.
Region stored_region(io::Rectangle part, const ViewerOptions& options) {
  const io::Orientation& turned = options.display.orientation;
  const FrameFormat& format = options.format;
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  part.x = turned.mirrored_x ? width - part.x - part.width : part.x;
  part.y = turned.mirrored_y ? height - part.y - part.height : part.y;
  return turned.transposed ? Region{part.y, part.x, part.height, part.width}
                           : Region{part.x, part.y, part.width, part.height};
}

// The part of the displayed picture that shows a region of the stored frame.
io::Rectangle displayed_part(const Region& region, const ViewerOptions& options) {
  const io::Orientation& turned = options.display.orientation;
  const FrameFormat& format = options.format;
  const int width = turned.transposed ? format.height : format.width;
  const int height = turned.transposed ? format.width : format.height;
  io::Rectangle part = turned.transposed ? io::Rectangle{region.y, region.x, region.height, region.width}
                                         : io::Rectangle{region.x, region.y, region.width, region.height};
  part.x = turned.mirrored_x ? width - part.x - part.width : part.x;
  part.y = turned.mirrored_y ? height - part.y - part.height : part.y;
  return part;
}

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
  static std::vector<KeyLine> view();
  static std::vector<KeyLine> files();
  static const std::vector<KeyLine>& table();
  /// The binding of a key, and its line; nothing if it has none for this source.
  static std::pair<const KeyLine*, const KeyBinding*> find(const std::string& key);

  // Actions that change settings.
  template <typename Make>
  static ViewerAction edit(Make make);
  static ViewerAction level(int direction, bool chroma_alone);
  static ViewerAction strength(int direction, bool luma);
  static ViewerAction step(Editor::Edit (Editor::*change)(PlayerSettings, int) const, int direction);
  static ViewerAction change(Editor::Edit (Editor::*change)(PlayerSettings) const);
  static ViewerAction undo(Editor::Edit (Editor::*undo)(const PlayerSettings&));
};

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
  const auto step_back = [](Viewer& v) {
    v.asked_at_ = Viewer::Clock::now();
    v.ended_ = false;
    v.player_->step_back();
  };
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
          {KeyScope::kFilm, "", "5 s back, forward", {{"LEFT", seek(-5), true}, {"RIGHT", seek(5), true}}},
          {KeyScope::kFilm,
           "",
           "60 s back, forward",
           {{"Shift+LEFT", seek(-60), true},
            {"Shift+RIGHT", seek(60), true},
            {"PGDN", seek(-60), true},
            {"PGUP", seek(60), true}}},
          {KeyScope::kFilm,
           "",
           "go to the beginning, the end",
           {{"HOME", [](Viewer& v) { v.seek_to(0); }}, {"END", end}}},
          {KeyScope::kFilm,
           "",
           "slower, faster, normal speed",
           {{"[", speed(1 / kSpeedStep), true}, {"]", speed(kSpeedStep), true}, {"BACKSPACE", speed(0)}}},
          {KeyScope::kMoving,
           "",
           "lower, raise the volume",
           {{"/", volume(-0.1), true}, {"*", volume(0.1), true}}}};
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
           {{"UP", strength(1, true), true}, {"DOWN", strength(-1, true), true}}},
          {kAll,
           "",
           "raise, lower the strength of chroma",
           {{"Shift+UP", strength(1, false), true}, {"Shift+DOWN", strength(-1, false), true}}},
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
           {{"N", [](Viewer& v) { v.list_files(true); }}, {"Ctrl+N", [](Viewer& v) { v.save_noise(); }}}},
          {kAll,
           "",
           "next, previous filter; next, previous profile",
           {{"m", step(&Editor::filter, 1)},
            {"M", step(&Editor::filter, -1)},
            {"c", step(&Editor::profile, 1)},
            {"C", step(&Editor::profile, -1)}}},
          {kAll, "", "quality that keeps pace, or always this filter", {{"Q", change(&Editor::pace)}}},
          {kAll,
           "",
           "flip between the settings A and B; copy to the other",
           {{"b", [](Viewer& v) { v.flip_settings(); }}, {"B", [](Viewer& v) { v.copy_settings(); }}}}};
}

std::vector<KeyLine> ViewerKeys::view() {
  const auto side = [](Side chosen) { return [chosen](Viewer& v) { v.change_side(chosen); }; };
  const auto gain = [](double factor) {
    return [factor](Viewer& v) { v.change_gain(v.state_.gain * factor); };
  };
  const auto zoom = [](bool greater) {
    return [greater](Viewer& v) {
      const int next = v.view_.next_zoom(greater, v.picture_area());
      v.change_zoom(greater && next == v.view_.zoom() ? 0 : next, v.pointer_x_, v.pointer_y_);
    };
  };
  const auto lock = [](Viewer& v) {
    v.split_.toggle_lock();
    v.notice(v.split_.locked() ? "split line locked" : "split line follows the pointer");
  };
  const auto center = [](Viewer& v) {
    v.split_.center();
    v.notice("split line in the middle");
  };
  const auto panel = [](Viewer& v) {
    v.panel_.toggle_panel();
    v.notice(v.panel_.is_open() ? "settings open" : "settings closed");
  };
  const auto statistics = [](Viewer& v) {
    v.state_.statistics = !v.state_.statistics;
    v.notice(v.state_.statistics ? "statistics" : "no statistics");
  };
  const auto help = [](Viewer& v) {
    v.state_.help = !v.state_.help;
    v.notice(v.state_.help ? "keys" : "");
  };
  constexpr KeyScope kAll = KeyScope::kAll;
  return {
      {kAll,
       "",
       "difference, noisy, denoised, split, side by side",
       {{"0", side(Side::kDifference)},
        {"1", side(Side::kNoisy)},
        {"2", side(Side::kDenoised)},
        {"3", side(Side::kSplit)},
        {"4", side(Side::kSideBySide)}}},
      {KeyScope::kFile, "", "A left of the line, B right of it", {{"5", [](Viewer& v) { v.show_pair(); }}}},
      {kAll, "", "gain of the difference", {{"g", gain(2), true}, {"G", gain(0.5), true}}},
      {kAll, "drag", "move, unlock, center the split line", {{"l", lock}, {"|", center}}},
      {kAll, "wheel", "zoom in, out; drag to move", {{"z", zoom(true)}, {"Z", zoom(false)}}},
      {kAll, "double click", "full screen", {{"f", [](Viewer& v) { v.window_->toggle_full_screen(); }}}},
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
  const auto whole = [](Viewer& v) {
    v.state_.passage = {};
    v.notice("the whole file");
  };
  const auto record = [](Viewer& v) {
    v.notice(v.options_.toggle_recording ? v.options_.toggle_recording() : "this source is not recorded");
  };
  const auto loopback = [](Viewer& v) {
    v.notice(v.options_.toggle_loopback ? v.options_.toggle_loopback() : "there is no loopback device");
  };
  return {
      {KeyScope::kFilm,
       "",
       "begin, end of the passage to write; the whole file",
       {{"I", mark(&Passage::begin, -0.25)}, {"O", mark(&Passage::end, 0.75)}, {"X", whole}}},
      {KeyScope::kFile,
       "",
       "write the passage or file in the background; cancel that",
       {{"w", [](Viewer& v) { v.start_writing(); }}, {"W", [](Viewer& v) { v.cancel_writing(); }}}},
      {KeyScope::kFile,
       "",
       "copy the command of this result",
       {{"Ctrl+C", [](Viewer& v) { v.copy_command(); }}}},
      {KeyScope::kAll, "", "save these settings", {{"Ctrl+S", [](Viewer& v) { v.save_settings(); }}}},
      {KeyScope::kFile, "drop a file", "open a file", {{"Ctrl+O", [](Viewer& v) { v.list_files(false); }}}},
      {KeyScope::kAll,
       "",
       "save pictures: noisy, denoised and split; the window",
       {{"s", [](Viewer& v) { v.save(&Viewer::save_pictures); }},
        {"S", [](Viewer& v) { v.save(&Viewer::save_window); }}}},
      {KeyScope::kCamera,
       "",
       "record; be a camera for others; next camera",
       {{"r", record}, {"L", loopback}, {"V", [](Viewer& v) { v.show_next_camera(); }}}}};
}

const std::vector<KeyLine>& ViewerKeys::table() {
  static const std::vector<KeyLine> all = [] {
    std::vector<KeyLine> lines;
    for (std::vector<KeyLine> some : {playing(), settings(), view(), files()}) {
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
  if (notice_until_ == Clock::time_point::max()) {
    notice_.clear();
    notice_until_ = {};
    redraw_ = true;
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

// ESC closes one thing at a time, and never the window.
void Viewer::close_top() {
  redraw_ = true;
  if (state_.help) {
    state_.help = false;
  } else if (box_) {
    box_.reset();
  } else if (window_->is_full_screen()) {
    window_->toggle_full_screen();
  }
}

void Viewer::show_next_camera() {
  const auto& all = options_.cameras;
  const auto is_other = [&](const CameraChoice& each) { return each.node != options_.source; };
  const auto own = std::ranges::find(all, options_.source, &CameraChoice::node);
  const auto next = std::find_if(own, all.end(), is_other);
  const auto first = std::ranges::find_if(all, is_other);
  if (first == all.end()) {
    return notice("no other camera");
  }
  show_camera(static_cast<std::size_t>((next == all.end() ? first : next) - all.begin()));
}

void Viewer::change_side(Side side) {
  // The same key again goes back to the split view.
  state_.side = side == state_.side ? Side::kSplit : side;
  static constexpr std::array<const char*, 6> kNames{"split",      "noisy",        "denoised",
                                                     "difference", "side by side", "settings A and B"};
  noisy_uploaded_ = denoised_uploaded_ = false;
  notice(fmt::format("view: {}", kNames[static_cast<std::size_t>(state_.side)]));
}

void Viewer::change_speed(double speed) {
  speed = std::clamp(speed, kSlowest, kFastest);
  if (std::abs(speed - 1) < 0.01) {
    speed = 1;
  }
  const bool was_heard = player_->speed() == 1;
  player_->set_speed(speed);
  if (speed == 1 && !was_heard) {
    seek_audio(player_->position());
  }
  notice(fmt::format("speed x{:.2f}", speed));
}

void Viewer::seek_to(double seconds) {
  double target = std::max(seconds, 0.0);
  if (options_.duration > 0) {
    target = std::min(target, options_.duration);
  }
  if (!player_->seek(target)) {
    return notice("this source can't go back or forth");
  }
  asked_at_ = Clock::now();
  seek_audio(target);
  audio_waits_ = true;
  ended_ = false;
  notice(time_text(target, false));
}

void Viewer::toggle_pause() {
  if (ended_ && player_->can_seek()) {
    player_->set_paused(false);
    seek_to(0);
    return notice("from the beginning");
  }
  player_->set_paused(!player_->paused());
  if (!player_->paused()) {
    seek_audio(player_->position());  // frames may have been stepped through
  }
  notice(player_->paused() ? "paused" : "playing");
}

// Changes of one gesture are undone together.
void Viewer::change_settings(const PlayerSettings& settings, const std::string& text, std::uint64_t gesture) {
  const PlayerSettings before = player_->settings();
  if (apply_settings(settings, text) && before != player_->settings()) {
    editor_.keep(before, gesture);
  }
}

bool Viewer::apply_settings(PlayerSettings settings, const std::string& text) {
  if (settings == player_->settings()) {
    notice(text);
    return false;
  }
  // Filters have profiles of their own.
  const FilterType& type = filter_type(settings.filter.name);
  std::optional<std::string>& profile = settings.filter.profile;
  if (!type.profiles.empty() && std::ranges::find(type.profiles, profile) == type.profiles.end()) {
    profile = type.default_profile;
  }
  try {
    if (options_.check) {
      options_.check(settings);
    }
  } catch (const UsageError& error) {
    notice(error.what());
    return false;
  }
  if (settings.noise.noise != box_noise_) {
    box_.reset();
  }
  awaited_ = settings;
  if (state_.side == Side::kPair) {
    pair_asked_ = settings;
  }
  asked_at_ = Clock::now();
  rates_.forget_slowness();
  player_->set_settings(settings);
  notice(text);
  return true;
}

void Viewer::take_noise_of_box() {
  constexpr int kLeast = NoiseTracker::kLeastSide;
  const io::Rectangle& box = box_->box();
  if (box.width < kLeast || box.height < kLeast) {
    return notice(fmt::format("{}x{} marked; {}x{} are needed to measure noise", box.width, box.height,
                              kLeast, kLeast));
  }
  spdlog::debug(fmt::format("box: {}x{} at {},{}", box.width, box.height, box.x, box.y));
  const Region region =
      whole_samples(stored_region(box, options_), options_.format, shown_->noisy.interlaced);
  NoiseTracker tracker(*engine_);
  NoiseEstimate noise;
  if (before_sequence_ + 1 == shown_->sequence && before_.samples != nullptr) {
    noise = tracker.next(part_of(engine_->in_host_memory(before_), region));
  }
  noise = tracker.next(part_of(engine_->in_host_memory(shown_->noisy), region));
  if (!noise.has_noise()) {
    return notice("no noise was found in the box: " + evidence_text(noise));
  }
  PlayerSettings settings = player_->settings();
  // Rounded as in a file, so that the written result equals the picture.
  settings.noise.noise = parse_noise_profile(to_json(profile_of(noise, options_.format.color_model)).dump());
  box_noise_ = settings.noise.noise;
  const std::string shape = shape_text(noise, options_.format.color_model);
  change_settings(settings, "noise measured in the box" + (shape.empty() ? "" : ": " + shape));
}

// The flattest part of the picture, where the bar does not cover it.
void Viewer::propose_box() {
  const io::Size area = picture_area();
  const io::Size window = window_->size();
  const int bottom = std::min(area.height, window.height - panel_.bar_height(window, scale()));
  const io::Rectangle seen = view_.picture_part(0, 0, area.width, bottom, area);
  const std::optional<Region> region = flattest_region(
      engine_->in_host_memory(shown_->noisy), stored_region(seen, options_), NoiseTracker::kLeastSide);
  if (!region) {
    constexpr int kLeast = NoiseTracker::kLeastSide;
    return notice(fmt::format("{}x{} samples are needed to measure noise", kLeast, kLeast));
  }
  box_.emplace(displayed_part(*region, options_), picture_size(), NoiseTracker::kLeastSide);
  take_noise_of_box();
}

void Viewer::change_zoom(int zoom, double x, double y) {
  view_.set_zoom(zoom, x, y, picture_area());
  notice(zoom == 0 ? "zoom: fit" : fmt::format("zoom: {}:1", zoom));
}

void Viewer::flip_settings() {
  const PlayerSettings other = editor_.pair().flip(player_->settings());
  pair_choice_ = editor_.pair().second();
  apply_settings(other,
                 fmt::format("settings {}: {}", editor_.pair().second() ? "B" : "A", settings_text(other)));
}

void Viewer::copy_settings() {
  editor_.pair().copy(player_->settings());
  notice(fmt::format("settings copied to {}", editor_.pair().second() ? "A" : "B"));
}

// Both settings are shown of a paused picture.
void Viewer::show_pair() {
  if (!editor_.pair().is_complete()) {
    return notice("there are no settings B; B copies the settings, b flips to them");
  }
  player_->set_paused(true);
  pair_choice_ = editor_.pair().second();
  pair_asked_.reset();  // frames with these settings may not come while paused
  change_side(Side::kPair);
}

// Ends a change of settings that the view of both has made, not the user.
void Viewer::restore_pair() {
  if (state_.side == Side::kPair && editor_.pair().second() != pair_choice_) {
    pair_asked_ = editor_.pair().flip(player_->settings());
    player_->set_settings(*pair_asked_);
  }
}

// Denoises the picture with A and with B, one after the other.
void Viewer::follow_pair() {
  if (state_.side != Side::kPair || shown_ == nullptr || shown_->is_waiting || player_->will_refine()) {
    return;
  }
  if (!player_->paused()) {
    return change_side(Side::kSplit);
  }
  const PlayerSettings used = player_->settings();
  const std::size_t own = editor_.pair().second() ? 1 : 0;
  const auto other_result = [&] { return editor_.pair().result(1 - own, shown_->sequence, used); };
  if (shown_->settings == used) {
    if (editor_.pair().result(own, shown_->sequence, used) != shown_) {
      editor_.pair().keep(shown_, used);
      redraw_ = true;
      if (other_result() != nullptr) {
        spdlog::debug(fmt::format("pair: A and B of frame {}", shown_->noisy.index));
      }
    }
    if (other_result() != nullptr && editor_.pair().second() == pair_choice_) {
      return;
    }
  } else if (pair_asked_ == used) {
    return;  // under way
  }
  pair_asked_ = editor_.pair().flip(used);
  awaited_ = pair_asked_;
  asked_at_ = Clock::now();
  player_->set_settings(*pair_asked_);
}

void Viewer::show_camera(std::size_t number) {
  next_camera_ = options_.cameras[number];
  quit_ = true;
  notice("camera: " + next_camera_->name);
}

void Viewer::change_gain(double gain) {
  constexpr double kMostGain = 32;
  state_.gain = std::clamp(gain, 1.0, kMostGain);
  notice(fmt::format("gain of the difference x{:.3g}", state_.gain));
}

void Viewer::change_volume(double volume) {
  if (audio_ == nullptr) {
    return notice("no audio");
  }
  state_.volume = std::clamp(volume, 0.0, 1.0);
  audio_->set_volume(state_.volume);
  notice(fmt::format("volume {:.0f} %", 100 * state_.volume));
}

void Viewer::mark_passage(std::optional<double>& end, double time) {
  const Passage before = state_.passage;
  end = std::max(time, 0.0);
  if (state_.passage.begin && state_.passage.end && *state_.passage.begin >= *state_.passage.end) {
    state_.passage = before;
    return notice("a passage begins before its end");
  }
  notice(fmt::format("passage {} to {}",
                     state_.passage.begin ? time_text(*state_.passage.begin) : "the beginning",
                     state_.passage.end ? time_text(*state_.passage.end) : "the end"));
}

}  // namespace limpid::app
