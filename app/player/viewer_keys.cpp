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

// The next step of sigma from `value`, finer where it is small.
float step_sigma(float value, int direction) {
  const float probe = direction > 0 ? value : value - 0.01F;
  const float step = probe < 5 ? 0.5F : probe < 20 ? 1 : probe < 50 ? 2 : 5;
  const float stepped = direction > 0 ? (std::floor(value / step + 0.001F) + 1) * step
                                      : (std::ceil(value / step - 0.001F) - 1) * step;
  return std::clamp(stepped, 0.0F, kMaxSigma);
}

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

// The entry of a list that follows another one, in either direction, from its end to its beginning.
const std::string& neighbor(const std::vector<std::string>& list, const std::string& entry, int direction) {
  const auto place = std::find(list.begin(), list.end(), entry) - list.begin();
  const auto count = static_cast<std::ptrdiff_t>(list.size());
  return list[static_cast<std::size_t>((place + direction + count) % count)];
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
  static std::vector<KeyLine> playing();
  static std::vector<KeyLine> settings();
  static std::vector<KeyLine> view();
  static std::vector<KeyLine> files();
  static const std::vector<KeyLine>& table();
  /// The binding of a key, and its line; nothing if it has none for this source.
  static std::pair<const KeyLine*, const KeyBinding*> find(const std::string& key);
};

std::vector<KeyLine> ViewerKeys::playing() {
  const auto seek = [](double seconds) {
    return [seconds](Viewer& v) { v.seek_to(v.player_->position() + seconds); };
  };
  const auto speed = [](double factor) {
    return [factor](Viewer& v) { v.change_speed(factor > 0 ? v.player_->speed() * factor : 1); };
  };
  const auto volume = [](double more) { return [more](Viewer& v) { v.change_volume(v.volume_ + more); }; };
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

std::vector<KeyLine> ViewerKeys::settings() {
  const auto level = [](int direction) {
    return [direction](Viewer& v) { v.change_level(direction, true, true); };
  };
  const auto chroma = [](int direction) {
    return [direction](Viewer& v) { v.change_level(direction, v.linked_, true); };
  };
  const auto strength = [](int direction, bool luma) {
    return [direction, luma](Viewer& v) { v.change_strength(direction, luma, !luma); };
  };
  const auto mix = [](int direction) { return [direction](Viewer& v) { v.change_mix(direction); }; };
  const auto filter = [](int direction) { return [direction](Viewer& v) { v.next_filter(direction); }; };
  const auto profile = [](int direction) { return [direction](Viewer& v) { v.next_profile(direction); }; };
  const auto estimate = [](Viewer& v) {
    PlayerSettings settings = v.player_->settings();
    settings.noise.noise.reset();
    v.change_settings(settings, "noise estimated from the clip");
  };
  const auto link = [](Viewer& v) {
    v.linked_ = !v.linked_;
    v.notice(v.linked_ ? "luma and chroma linked" : "luma and chroma separate");
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
          {kAll, "", "more, less of the original in the result", {{"d", mix(1), true}, {"D", mix(-1), true}}},
          {kAll,
           "",
           "undo, redo the last change of a setting",
           {{"Ctrl+Z", [](Viewer& v) { v.undo(false); }}, {"Ctrl+Y", [](Viewer& v) { v.undo(true); }}}},
          {kAll,
           "",
           "raise, lower the noise level",
           {{"+", level(1), true}, {"=", level(1), true}, {"-", level(-1), true}}},
          {kAll, "", "lower, raise the level of chroma", {{"(", chroma(-1), true}, {")", chroma(1), true}}},
          {kAll,
           "",
           "noise: estimated, by hand; link luma and chroma",
           {{"a", estimate}, {"v", [](Viewer& v) { v.set_level(); }}, {"k", link}}},
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
           {{"m", filter(1)}, {"M", filter(-1)}, {"c", profile(1)}, {"C", profile(-1)}}},
          {kAll,
           "",
           "quality that keeps pace, or always this filter",
           {{"Q", [](Viewer& v) { v.toggle_pace(); }}}},
          {kAll,
           "",
           "flip between the settings A and B; copy to the other",
           {{"b", [](Viewer& v) { v.flip_settings(); }}, {"B", [](Viewer& v) { v.copy_settings(); }}}}};
}

std::vector<KeyLine> ViewerKeys::view() {
  const auto side = [](Side chosen) { return [chosen](Viewer& v) { v.change_side(chosen); }; };
  const auto gain = [](double factor) { return [factor](Viewer& v) { v.change_gain(v.gain_ * factor); }; };
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
    v.options_.statistics = !v.options_.statistics;
    v.notice(v.options_.statistics ? "statistics" : "no statistics");
  };
  const auto help = [](Viewer& v) {
    v.help_ = !v.help_;
    v.notice(v.help_ ? "keys" : "");
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
      v.mark_passage(v.passage_.*end, v.position() + frames / v.player_options_.frames_per_second);
    };
  };
  const auto whole = [](Viewer& v) {
    v.passage_ = {};
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
    early_keys_.push_back(key);
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
  if (help_) {
    help_ = false;
  } else if (box_) {
    box_.reset();
  } else if (window_->is_full_screen()) {
    window_->toggle_full_screen();
  }
}

void Viewer::undo(bool forward) {
  SettingsHistory& history = history_[pair_.second() ? 1 : 0];
  const PlayerSettings now = player_->settings();
  const std::optional<PlayerSettings> settings = forward ? history.redo(now) : history.undo(now);
  if (!settings) {
    return notice(forward ? "nothing to redo" : "nothing to undo");
  }
  apply_settings(*settings, (forward ? "redone: " : "undone: ") + settings_text(*settings));
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
  side_ = side == side_ ? Side::kSplit : side;
  static constexpr std::array<const char*, 6> kNames{"split",      "noisy",        "denoised",
                                                     "difference", "side by side", "settings A and B"};
  noisy_uploaded_ = denoised_uploaded_ = false;
  notice(fmt::format("view: {}", kNames[static_cast<std::size_t>(side_)]));
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
    history_[pair_.second() ? 1 : 0].add(before, gesture);
  }
}

bool Viewer::apply_settings(PlayerSettings settings, const std::string& text) {
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
  if (side_ == Side::kPair) {
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
  NoiseModel noise;
  if (before_sequence_ + 1 == shown_->sequence && before_.samples != nullptr) {
    noise = tracker.next(part_of(engine_->in_host_memory(before_), region));
  }
  noise = tracker.next(part_of(engine_->in_host_memory(shown_->noisy), region));
  if (!noise.has_noise()) {
    return notice("no noise was found in the box: " + evidence_text(noise));
  }
  PlayerSettings settings = player_->settings();
  // Rounded as in a file, so that the written result equals the picture.
  settings.noise.noise =
      parse_noise_profile(to_json(NoiseProfile{noise, options_.format.color_model}).dump());
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

void Viewer::toggle_pace() {
  PlayerSettings settings = player_->settings();
  settings.keeps_pace = !settings.keeps_pace;
  change_settings(settings, settings.keeps_pace ? "quality: automatic, keeps pace"
                                                : "quality: always " + filter_text(settings));
}

void Viewer::change_zoom(int zoom, double x, double y) {
  view_.set_zoom(zoom, x, y, picture_area());
  notice(zoom == 0 ? "zoom: fit" : fmt::format("zoom: {}:1", zoom));
}

void Viewer::change_strength(int direction, bool luma, bool chroma) {
  PlayerSettings settings = player_->settings();
  const auto step = [direction](float& factor) {
    constexpr float kSteps = 10;  // to 1
    constexpr float kMost = 10;
    const float steps = std::round(factor * kSteps) + static_cast<float>(direction);
    factor = std::clamp(steps / kSteps, 0.0F, kMost);
  };
  Strength& strength = settings.noise.strength;
  const bool together = linked_ || options_.format.color_model != ColorModel::kYuv;
  if (luma || together) {
    step(strength.luma);
  }
  if (together) {
    strength.chroma = strength.luma;
  } else if (chroma) {
    step(strength.chroma);
  }
  change_settings(settings, "strength " + to_string(strength));
}

void Viewer::change_mix(int direction) {
  PlayerSettings settings = player_->settings();
  constexpr float kSteps = 20;  // to 1
  const float steps = std::round(settings.noise.mix * kSteps) + static_cast<float>(direction);
  settings.noise.mix = std::clamp(steps / kSteps, 0.0F, 1.0F);
  change_settings(settings, fmt::format("{:.0f} % of the original in the result", 100 * settings.noise.mix));
}

// The estimate as a level by hand: white noise, which a command line can repeat.
void Viewer::set_level() {
  PlayerSettings settings = player_->settings();
  settings.noise.noise = NoiseProfile{NoiseModel{shown_->noise.sigma}, std::nullopt};
  change_settings(settings, sigma_text(settings.noise.noise->noise, color_plane_names(options_.format)));
}

void Viewer::change_level(int direction, bool luma, bool chroma) {
  PlayerSettings settings = player_->settings();
  // From the estimate, until a level is set by hand, with which no frame may have been shown yet.
  const bool by_hand = settings.noise.noise && !settings.noise.noise->color_model;
  NoiseModel level{by_hand ? settings.noise.noise->noise.sigma : shown_->noise.sigma};
  const auto step = [&](float& sigma) { sigma = step_sigma(sigma, direction); };
  if (luma) {
    step(level.sigma[0]);
  }
  if (chroma) {
    step(level.sigma[1]);
    step(level.sigma[2]);
  }
  settings.noise.noise = NoiseProfile{level, std::nullopt};
  change_settings(settings, sigma_text(level, color_plane_names(options_.format)));
}

void Viewer::next_profile(int direction) {
  PlayerSettings settings = player_->settings();
  const std::vector<std::string>& profiles = filter_type(settings.filter.name).profiles;
  if (profiles.empty()) {
    return notice(settings.filter.name + " has no profiles");
  }
  const std::string profile = neighbor(profiles, settings.filter.profile.value_or(""), direction);
  settings.filter.profile = profile;
  change_settings(settings, "profile " + profile);
}

void Viewer::next_filter(int direction) {
  if (options_.filters.size() < 2) {
    return notice("there is no filter but " + player_->settings().filter.name);
  }
  PlayerSettings settings = player_->settings();
  settings.filter.name = neighbor(options_.filters, settings.filter.name, direction);
  change_settings(settings, "filter " + settings.filter.name);
}

void Viewer::flip_settings() {
  const PlayerSettings other = pair_.flip(player_->settings());
  pair_choice_ = pair_.second();
  apply_settings(other, fmt::format("settings {}: {}", pair_.second() ? "B" : "A", settings_text(other)));
}

void Viewer::copy_settings() {
  pair_.copy(player_->settings());
  notice(fmt::format("settings copied to {}", pair_.second() ? "A" : "B"));
}

// Both settings are shown of a paused picture.
void Viewer::show_pair() {
  if (!pair_.is_complete()) {
    return notice("there are no settings B; B copies the settings, b flips to them");
  }
  player_->set_paused(true);
  pair_choice_ = pair_.second();
  pair_asked_.reset();  // frames with these settings may not come while paused
  change_side(Side::kPair);
}

// Ends a change of settings that the view of both has made, not the user.
void Viewer::restore_pair() {
  if (side_ == Side::kPair && pair_.second() != pair_choice_) {
    pair_asked_ = pair_.flip(player_->settings());
    player_->set_settings(*pair_asked_);
  }
}

// Denoises the picture with A and with B, one after the other.
void Viewer::follow_pair() {
  if (side_ != Side::kPair || shown_ == nullptr || shown_->is_waiting || player_->will_refine()) {
    return;
  }
  if (!player_->paused()) {
    return change_side(Side::kSplit);
  }
  const PlayerSettings used = player_->settings();
  const std::size_t own = pair_.second() ? 1 : 0;
  const auto other_result = [&] { return pair_.result(1 - own, shown_->sequence, used); };
  if (shown_->settings == used) {
    if (pair_.result(own, shown_->sequence, used) != shown_) {
      pair_.keep(shown_, used);
      redraw_ = true;
      if (other_result() != nullptr) {
        spdlog::debug(fmt::format("pair: A and B of frame {}", shown_->noisy.index));
      }
    }
    if (other_result() != nullptr && pair_.second() == pair_choice_) {
      return;
    }
  } else if (pair_asked_ == used) {
    return;  // under way
  }
  pair_asked_ = pair_.flip(used);
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
  gain_ = std::clamp(gain, 1.0, kMostGain);
  notice(fmt::format("gain of the difference x{:.3g}", gain_));
}

void Viewer::change_volume(double volume) {
  if (audio_ == nullptr) {
    return notice("no audio");
  }
  volume_ = std::clamp(volume, 0.0, 1.0);
  audio_->set_volume(volume_);
  notice(fmt::format("volume {:.0f} %", 100 * volume_));
}

void Viewer::mark_passage(std::optional<double>& end, double time) {
  const Passage before = passage_;
  end = std::max(time, 0.0);
  if (passage_.begin && passage_.end && *passage_.begin >= *passage_.end) {
    passage_ = before;
    return notice("a passage begins before its end");
  }
  notice(fmt::format("passage {} to {}", passage_.begin ? time_text(*passage_.begin) : "the beginning",
                     passage_.end ? time_text(*passage_.end) : "the end"));
}

}  // namespace limpid::app
