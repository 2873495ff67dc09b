// SPDX-License-Identifier: MIT
// The actions of the window, which keys and the mouse request.
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "app/console/quantity_text.h"
#include "app/player/viewer.h"
#include "core/base/error.h"
#include "core/engine/noise_tracker.h"
#include "core/filter/filter.h"
#include "io/screen/fonts.h"

namespace limpid::app {
namespace {

constexpr double kSlowest = 0.05;
constexpr double kFastest = 20;

}  // namespace

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
  // The same key again goes back to the split view.
  state_.side = side == state_.side ? Side::kSplit : side;
  static constexpr std::array<const char*, 6> kNames{"split",      "noisy",        "denoised",
                                                     "difference", "side by side", "settings A and B"};
  screen_.forget_pictures();
  notice(fmt::format("view: {}", kNames[static_cast<std::size_t>(state_.side)]));
}

void Viewer::change_speed(double speed) {
  speed = std::clamp(speed, kSlowest, kFastest);
  if (std::abs(speed - 1) < 0.01) {
    speed = 1;
  }
  player_->set_speed(speed);
  audio_.set_speed(speed, player_->position());
  notice(fmt::format("speed x{:.2f}", speed));
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

void Viewer::toggle_pause() {
  if (state_.ended && player_->can_seek()) {
    player_->set_paused(false);
    seek_to(0);  // or to the beginning of the passage
    return notice("from the beginning");
  }
  player_->set_paused(!player_->paused());
  if (!player_->paused()) {
    audio_.seek(player_->position());  // frames may have been stepped through
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
  area_.suit(settings.noise);
  if (state_.side == Side::kPair) {
    editor_.pair().note_request(settings);
  }
  measurements_.forget_slowness();
  request_settings(settings);
  notice(text);
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
  notice(zoom == 0 ? "zoom: fit" : fmt::format("zoom: {}:1", zoom));
}

void Viewer::flip_settings() {
  const PlayerSettings other = editor_.pair().flip(player_->settings());
  editor_.pair().choose();
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
  editor_.pair().begin_comparison();
  change_side(Side::kPair);
}

// Ends a change of settings that the view of both has made, not the user.
void Viewer::restore_pair() {
  if (state_.side != Side::kPair) {
    return;
  }
  if (const std::optional<PlayerSettings> chosen = editor_.pair().restore(player_->settings())) {
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

void Viewer::change_gain(double gain) {
  constexpr double kMostGain = 32;
  state_.gain = std::clamp(gain, 1.0, kMostGain);
  notice(fmt::format("gain of the difference x{:.3g}", state_.gain));
}

void Viewer::change_volume(double volume) {
  if (!audio_.exists()) {
    return notice("no audio");
  }
  state_.volume = std::clamp(volume, 0.0, 1.0);
  state_.muted = false;
  audio_.set_volume(state_.volume);
  notice(fmt::format("volume {:.0f} %", 100 * state_.volume));
}

void Viewer::toggle_mute() {
  if (!audio_.exists()) {
    return notice("no audio");
  }
  state_.muted = !state_.muted;
  audio_.set_volume(state_.muted ? 0 : state_.volume);
  notice(state_.muted ? "muted" : fmt::format("volume {:.0f} %", 100 * state_.volume));
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

void Viewer::toggle_mirror() {
  state_.mirrored = !state_.mirrored;
  screen_.view().mirror();
  notice(state_.mirrored ? "mirrored" : "not mirrored");
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

// Marks the beginning, then the end, and begins to repeat; ends that.
void Viewer::step_loop() {
  if (!player_->can_seek()) {
    return notice("this source can't go back or forth");
  }
  if (state_.loops) {
    state_.loops = state_.plays_passage = false;
    notice("no loop");
    return use_passage(position());
  }
  // A quarter of a frame more than the frames have, so that rounding leaves none out.
  const double frame = 1 / player_options_.frames_per_second;
  if (state_.passage == Passage{}) {
    state_.passage.begin = std::max(position() - frame / 4, 0.0);
    return notice(fmt::format("loop from {}; l sets its end", time_text(*state_.passage.begin)));
  }
  if (!state_.passage.end) {
    mark_passage(state_.passage.end, position() + 3 * frame / 4);
  }
  if (state_.passage.end) {
    state_.loops = true;
    notice(fmt::format("loop from {} to {}", time_text(state_.passage.begin.value_or(0)),
                       time_text(*state_.passage.end)));
    use_passage(state_.passage.begin.value_or(0));
  }
}

// While a handle is dragged, the frame at its place is shown.
void Viewer::drag_passage(const PassageRequest& request) {
  state_.passage = request.passage;
  if (request.is_final) {
    player_->set_paused(player_->paused() && !std::exchange(state_.resumes, false));
    notice(fmt::format("passage {} to {}", time_text(request.passage.begin.value_or(0)),
                       time_text(request.passage.end.value_or(options_.duration))));
    use_passage(is_bounded() ? request.passage.begin.value_or(0) : request.at);
  } else {
    state_.resumes = state_.resumes || !player_->paused();
    player_->set_paused(true);
    player_->set_passage(std::nullopt, false);
    player_->seek(request.at);
    audio_.seek_with_picture(request.at);
    state_.ended = false;
    asked_at_ = Clock::now();
  }
  screen_.redraw();
}

void Viewer::step_back() {
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

// Pictures are saved after refinement.
void Viewer::save(const std::function<void()>& pictures) {
  if (!player_->will_refine()) {
    return pictures();
  }
  saves_.push_back(pictures);
  notice("to be saved when it is refined");
}

void Viewer::ask_to_quit() {
  if (!output_.is_writing()) {
    state_.quits = true;
    return;
  }
  state_.asks_to_quit = true;
  screen_.redraw();
  spdlog::debug("question: quit while a file is written");
}

void Viewer::answer(QuitAnswer answer) {
  state_.asks_to_quit = false;
  screen_.redraw();
  state_.quits = answer != QuitAnswer::kBack;
  state_.cancels_output = answer == QuitAnswer::kCancel;
}

}  // namespace limpid::app
