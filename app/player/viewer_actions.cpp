// SPDX-License-Identifier: MIT
// The actions of the window, which keys and the mouse request.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "app/console/quantity_text.h"
#include "app/player/properties.h"
#include "app/player/viewer.h"
#include "app/player/viewer_report.h"
#include "core/base/error.h"
#include "core/engine/noise_tracker.h"
#include "core/filter/filter.h"
#include "io/screen/fonts.h"

namespace limpid::app {

// ESC closes one thing at a time, and never the window.
void Viewer::close_top() {
  screen_.redraw();
  if (state_.help) {
    state_.help = false;
  } else if (area_.box()) {
    area_.box().reset();
  } else if (screen_.window().is_full_screen()) {
    screen_.window().toggle_full_screen();
  }
}

void Viewer::show_next_camera() {
  if (!trouble_.empty()) {
    cameras_ = options_.find_cameras();
  }
  const auto& all = cameras_;
  // A camera that is back with another format counts as another one.
  const auto is_other = [&](const CameraChoice& each) {
    return !trouble_.empty() || each.node != options_.camera;
  };
  const auto own = std::ranges::find(all, options_.camera, &CameraChoice::node);
  const auto next = std::find_if(own, all.end(), is_other);
  const auto first = std::ranges::find_if(all, is_other);
  if (first == all.end()) {
    return notice("no other camera");
  }
  show_camera(static_cast<std::size_t>((next == all.end() ? first : next) - all.begin()));
}

void Viewer::change_side(Side side) {
  // The side that is shown, chosen again, goes back to the split view.
  state_.side = side == state_.side ? Side::kSplit : side;
  screen_.forget_pictures();
}

bool Viewer::go_to(double seconds) {
  const Passage played = is_bounded() ? state_.passage : Passage{};
  double target = seconds;
  if (played.end) {  // its last frame
    target = std::min(target, *played.end - 0.5 / player_options_.frames_per_second);
  } else if (options_.duration > 0) {
    target = std::min(target, options_.duration);
  }
  target = std::max(target, played.begin.value_or(0));
  if (!player_->seek(target)) {
    notice("this source can't go back or forth");
    return false;
  }
  asked_at_ = Clock::now();
  audio_.seek_with_picture(target);
  state_.ended = false;
  return true;
}

void Viewer::seek_to(double seconds) {
  if (go_to(seconds)) {
    notice(time_text(player_->position(), false));
  }
}

void Viewer::set_paused(bool paused) {
  if (state_.ended && !paused && player_->can_seek()) {
    player_->set_paused(false);
    seek_to(0);  // or to the beginning of the passage
    return notice("from the beginning");
  }
  player_->set_paused(paused);
  if (!paused) {
    audio_.seek(player_->position());  // frames may have been stepped through
  }
  notice(paused ? "paused" : "playing");
}

// Changes of one gesture are undone together.
void Viewer::change_settings(const PlayerSettings& settings, const std::string& text) {
  const PlayerSettings before = player_->settings();
  if (apply_settings(settings, text) && before != player_->settings()) {
    history_[pair_.second() ? 1 : 0].add(before, gesture_);
  }
}

void Viewer::undo(bool again) {
  const PlayerSettings& used = player_->settings();
  SettingsHistory& history = history_[pair_.second() ? 1 : 0];
  const std::optional<PlayerSettings> settings = again ? history.redo(used) : history.undo(used);
  const std::string word = again ? "redo" : "undo";
  if (!settings) {
    return notice("nothing to " + word);
  }
  apply_settings(*settings, word + ": " + settings_text(*settings));
}

bool Viewer::apply_settings(PlayerSettings settings, const std::string& text) {
  const auto tell = [&] {
    if (!text.empty()) {
      notice(text);
    }
  };
  if (settings == player_->settings()) {
    tell();
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
  area_.suit(settings.noise);
  if (state_.side == Side::kPair) {
    pair_.note_request(settings);
  }
  measurements_.forget_slowness();
  request_settings(settings);
  tell();
  return true;
}

void Viewer::take_noise_of_box() {
  const NoiseArea::Measured measured = area_.measure(*shown_);
  if (!measured.noise) {
    return notice(measured.text);
  }
  PlayerSettings settings = player_->settings();
  settings.noise.noise = measured.noise;
  change_settings(settings, measured.text);
}

// The flattest part of the picture, where the bar does not cover it.
void Viewer::propose_box() {
  if (options_.after == nullptr && !area_.propose(*shown_, screen_.seen_part(state_.side))) {
    constexpr int kLeast = NoiseTracker::kLeastSide;
    return notice(fmt::format("{}x{} samples are needed to measure noise", kLeast, kLeast));
  }
  take_noise_of_box();
}

void Viewer::change_zoom(int zoom, View::Point at) {
  screen_.view().set_zoom(zoom, at.x, at.y, screen_.picture_area(state_.side));
}

void Viewer::flip_settings() {
  const PlayerSettings other = pair_.flip(player_->settings());
  pair_.choose();
  apply_settings(other, fmt::format("settings {}: {}", pair_.second() ? "B" : "A", settings_text(other)));
}

// Both settings are shown of a paused picture.
void Viewer::show_pair() {
  if (!pair_.is_complete()) {
    return notice(fmt::format("there are no settings B; {} copies the settings, {} flips to them",
                              key_of("copy-settings"), key_of("toggle settings")));
  }
  player_->set_paused(true);
  pair_.begin_comparison();
  change_side(Side::kPair);
}

// Ends a change of settings that the view of both has made, not the user.
void Viewer::restore_pair() {
  if (state_.side != Side::kPair) {
    return;
  }
  if (const std::optional<PlayerSettings> chosen = pair_.restore(player_->settings())) {
    player_->set_settings(*chosen);
  }
}

// The camera is opened again, as both are one source.
void Viewer::use_microphone(const std::string& device) {
  next_camera_ = CameraChoice{
      .name = options_.source, .node = "", .format = "", .size = "", .fps = "", .microphone = device};
  state_.quits = true;
  notice("microphone: " + device);
}

void Viewer::show_camera(std::size_t number) {
  next_camera_ = cameras_[number];
  state_.quits = true;
  notice("camera: " + next_camera_->name);
}

// One chapter back goes to the beginning of this one, unless that has just begun.
void Viewer::go_to_chapter(int step) {
  const std::vector<io::Chapter>& chapters = options_.chapters;
  if (chapters.empty()) {
    return notice("no chapters");
  }
  constexpr double kJustBegun = 2;
  const double now = position() + (step > 0 ? kSameInstant : -kJustBegun);
  const auto behind =
      std::ranges::find_if(chapters, [now](const io::Chapter& each) { return each.begin > now; });
  if (step > 0 && behind == chapters.end()) {
    return notice("the last chapter");
  }
  const auto chapter = step > 0 || behind == chapters.begin() ? behind : behind - 1;
  seek_to(chapter->begin);
  notice(fmt::format("chapter {} of {}{}", chapter - chapters.begin() + 1, chapters.size(),
                     chapter->title.empty() ? "" : ": " + io::valid_utf8(chapter->title)));
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
  if (is_bounded()) {
    use_passage(state_.passage.begin.value_or(0));
  }
}

void Viewer::use_passage(double target) {
  player_->set_passage(is_bounded() ? std::optional(state_.passage) : std::nullopt, state_.loops);
  go_to(target);
}

void Viewer::show_whole() {
  const bool was_bounded = is_bounded();
  state_.passage = {};
  state_.plays_passage = false;
  notice("the whole file");
  if (was_bounded) {
    use_passage(position());
  }
}

// Repeats the passage, or the whole source.
void Viewer::set_loop(bool loops) {
  if (!player_->can_seek()) {
    return notice("this source can't go back or forth");
  }
  state_.loops = loops;
  state_.plays_passage = false;
  if (!loops) {
    notice("no loop");
    return use_passage(position());
  }
  const Passage& passage = state_.passage;
  notice(passage == Passage{} ? "loop of the whole file"
                              : fmt::format("loop from {} to {}", time_text(passage.begin.value_or(0)),
                                            passage.end ? time_text(*passage.end) : "the end"));
  use_passage(passage.begin.value_or(0));
}

// Marks the beginning, then the end, and begins to repeat; ends that.
void Viewer::step_loop() {
  if (!player_->can_seek() || state_.loops) {
    return set_loop(false);
  }
  // A quarter of a frame more than the frames have, so that rounding leaves none out.
  const double frame = 1 / player_options_.frames_per_second;
  if (state_.passage == Passage{}) {
    state_.passage.begin = std::max(position() - frame / 4, 0.0);
    return notice(
        fmt::format("loop from {}; {} sets its end", time_text(*state_.passage.begin), key_of("step-loop")));
  }
  if (!state_.passage.end) {
    mark_passage(state_.passage.end, position() + 3 * frame / 4);
  }
  if (state_.passage.end) {
    set_loop(true);
  }
}

// While a handle is dragged, the frame at its place is shown. `argument`: "begin 2.5" or "end 2.5".
void Viewer::drag_passage(const std::string& argument) {
  const double time = parse_number(argument.substr(argument.find(' '))).value_or(0);
  (argument.starts_with("begin") ? state_.passage.begin : state_.passage.end) = time;
  state_.resumes = state_.resumes || !player_->paused();
  player_->set_paused(true);
  player_->set_passage(std::nullopt, false);
  player_->seek(time);
  audio_.seek_with_picture(time);
  state_.ended = false;
  asked_at_ = Clock::now();
}

void Viewer::release_passage() {
  const Passage& passage = state_.passage;
  player_->set_paused(player_->paused() && !std::exchange(state_.resumes, false));
  notice(fmt::format("passage {} to {}", time_text(passage.begin.value_or(0)),
                     time_text(passage.end.value_or(options_.duration))));
  use_passage(is_bounded() ? passage.begin.value_or(0) : position());
}

void Viewer::step_frames(bool forward) {
  if (forward) {
    return player_->step_forward();
  }
  asked_at_ = Clock::now();
  state_.ended = false;
  player_->step_back();
}

void Viewer::request_settings(const PlayerSettings& settings) {
  awaited_ = settings;
  asked_at_ = Clock::now();
  player_->set_settings(settings);
}

void Viewer::copy_command() {
  const std::string line = command_line();
  if (line.empty()) {
    return notice("no command line repeats this source");
  }
  screen_.window().copy(line);
  spdlog::info(fmt::format("command: {}", line));
  notice("copied: " + line);
}

void Viewer::show_files(bool profiles) {
  state_.help = false;
  input_.show_list(profiles);
}

void Viewer::open_file(const std::string& path) {
  restore_pair();
  if (!FileInput::has_settings(path)) {
    state_.quits = input_.choose(path, output_.is_writing()) || state_.quits;
  } else if (const auto read = input_.read_settings_of(path, player_->settings())) {
    area_.box().reset();
    change_settings(read->settings, read->text);
  }
}

// Pictures are saved with the settings in use, after refinement.
void Viewer::save(const std::function<void()>& pictures) {
  if (!awaited_ && !player_->will_refine()) {
    return pictures();
  }
  saves_.push_back(pictures);
  notice("to be saved when the final result is there");
}

void Viewer::ask_to_quit() {
  output_.poll();  // it may just have ended
  if (!output_.is_writing()) {
    state_.quits = true;
    return;
  }
  state_.asks_to_quit = true;
  screen_.redraw();
}

void Viewer::answer(const std::string& answer) {
  state_.asks_to_quit = false;
  screen_.redraw();
  state_.quits = answer != "back";
  state_.cancels_output = answer == "cancel";
}

}  // namespace limpid::app
