// SPDX-License-Identifier: MIT
#include "app/player/viewer.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>
#include <utility>

#include "app/console/time_text.h"
#include "app/pipeline/noise_text.h"
#include "app/player/viewer_report.h"
#include "core/base/error.h"
#include "core/engine/noise_tracker.h"
#include "core/frame/plane_names.h"
#include "core/frame/region.h"
#include "core/settings/noise_settings.h"
#include "io/screen/fonts.h"
#include "io/screen/png.h"

namespace limpid::app {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kWritingInterval{200};
constexpr milliseconds kNoticeTime{1500};
constexpr milliseconds kNewsTime{4000};  // with the name of a file
// Time before the window explains what the user is waiting for.
constexpr milliseconds kHintAfter{300};
// Frames of controls that show the effect of an event.
constexpr int kFramesToSettle = 2;
constexpr ImU32 kLineInk = IM_COL32(255, 255, 255, 255);
constexpr double kHandle = 8;  // side of a handle of the box, in units of 1/96 inch
constexpr ImU32 kLineEdgeInk = IM_COL32(0, 0, 0, 128);

io::WindowOptions window_options(const ViewerOptions& options) {
  io::WindowOptions result = options.window;
  if (result.size.width <= 0) {
    const io::DisplayConverter converter(options.format, options.display);
    const double aspect = converter.pixel_aspect();
    result.size = {static_cast<int>(std::lround(converter.width() * std::max(aspect, 1.0))),
                   static_cast<int>(std::lround(converter.height() * std::max(1 / aspect, 1.0)))};
    result.least = {1280, 720};
  }
  return result;
}

std::shared_ptr<io::Window> open(const ViewerOptions& options) {
  if (options.open_window == nullptr) {
    return std::make_shared<io::Window>(window_options(options));
  }
  options.open_window->set_display_lost(options.window.display_lost);
  options.open_window->set_title(options.window.title);
  return options.open_window;
}

}  // namespace

Viewer::Viewer(ViewerOptions options, PlayerStages stages, PlayerOptions player_options)
    : options_(std::move(options)),
      player_options_(std::move(player_options)),
      window_(open(options_)),
      forgets_loss_(*window_),
      converter_(options_.format, options_.display),
      painter_(options_.format, options_.display),
      panel_(options_.overlay),
      view_({converter_.width(), converter_.height()}, converter_.pixel_aspect()),
      split_(options_.split),
      engine_(stages.engine),
      editor_(options_.format.color_model, options_.filters),
      asked_at_(Clock::now()) {
  window_size_ = window_->size();
  state_.side = options_.side;
  state_.labels = options_.overlay;
  state_.statistics = options_.statistics;
  if (options_.controls) {
    panel_.toggle_panel();
  }
  split_.toggle_lock();  // the pointer has controls to go to
  const io::Size size = stage();
  view_.set_zoom(options_.zoom, size.width / 2.0, size.height / 2.0, size);
  stages.wake = [this] { window_->wake(); };
  keep_results_on_gpu(stages);
  player_ = std::make_unique<Player>(std::move(stages), player_options_);
}

Viewer::~Viewer() = default;

// If the engine's GPU draws the window, results need not pass through the host's memory.
void Viewer::keep_results_on_gpu(PlayerStages& stages) {
  if (engine_ == nullptr || engine_->result_memory().is_host()) {
    return;
  }
  FramePool::Allocator frames;
  try {
    frames = painter_.share(engine_->result_memory());
  } catch (const Error& error) {
    spdlog::debug(fmt::format("results pass through the host's memory: {}", error.what()));
    return;
  }
  spdlog::debug("results stay in the memory of the GPU");
  for (auto* const make : {&stages.make_denoiser, &stages.make_refiner}) {
    *make = [make = *make, frames](const PlayerSettings& settings, const Frame& frame,
                                   const NoiseModel& level) {
      std::unique_ptr<Denoiser> denoiser = make(settings, frame, level);
      denoiser->set_result_frames([frames, format = frame.format] { return frames(format); });
      return denoiser;
    };
  }
}

void Viewer::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { window_->wake(); });
  if (!options_.screenshot.empty()) {
    player_->set_paused(true);  // frame by frame, so that none is dropped
  }
  while (!quit_ && !stop.stop_requested()) {
    const Player::Taken taken = player_->take(Clock::now());
    show_taken(taken);
    follow(Clock::now());
    if (redraw_ && can_draw() && window_->is_visible()) {
      if (shown_ != nullptr) {
        draw();
      } else {
        draw_opening();
      }
      timed(presenting_.busy_ns, [&] { window_->present(); });
      redraw_ = controls_.has_events() || settling_-- > 0;
    }
    const bool is_needed = !options_.is_needed || window_->is_on_screen() || options_.is_needed();
    if (is_needed && awaits_refinement()) {
      // The screenshot is to show it.
    } else if (!is_needed || (options_.frames > 0 && report_.shown >= options_.frames)) {
      quit_ = true;
    } else if (taken.ended) {
      handle_end();
    }
    if (!quit_) {
      wait_until(taken.ended && ended_ ? std::nullopt : taken.next_at, stop);
    }
  }
  finish_showing(stop.stop_requested());
}

void Viewer::show_taken(const Player::Taken& taken) {
  if (taken.frame != nullptr) {
    show(taken.frame);
  } else if (taken.waiting != nullptr) {
    hand_to_screen(taken.waiting);
    if (shown_->is_glimpse) {
      spdlog::debug(fmt::format("shown: the key frame at {}", time_text(shown_->time, true)));
    }
  }
  if (taken.refined != nullptr) {
    hand_to_screen(taken.refined);
    spdlog::debug(fmt::format("refined: frame {}", shown_->noisy.index));
  }
  if (!saves_.empty() && !player_->will_refine()) {
    save_awaited();
  }
  if (taken.begins) {
    audio_waits_ = false;
    // The source may begin anywhere, and a seek goes to a frame.
    if (constexpr double kNotHeard = 0.02; std::abs(shown_->time - audio_begins_at_) > kNotHeard) {
      seek_audio(shown_->time);
    }
  }
}

// Adapts the window to what has changed elsewhere.
void Viewer::follow(Clock::time_point now) {
  measure(now);
  follow_audio();
  follow_writing();
  follow_pair();
  follow_visibility(now);
  tell_news();
  if (!notice_.empty() && now >= notice_until_) {
    notice_.clear();
    redraw_ = true;
  }
  hint(now);
}

// Does what remains before run() ends.
void Viewer::finish_showing(bool is_interrupted) {
  restore_pair();
  save_awaited();
  const bool is_last = next_input_.empty() && !next_camera_;
  if (!is_last && shown_ != nullptr && window_->is_visible()) {
    notice("opening " + (next_camera_ ? next_camera_->name : next_input_));
    draw();  // it stays until the next source has frames
    window_->present();
  }
  if (!options_.screenshot.empty()) {
    take_screenshot();
  }
  if (audio_ != nullptr) {
    audio_->set_playing(false);
  }
  // Nobody waits for the rest before a window that does not react.
  if (is_last && !is_lost_ && window_->is_visible()) {
    window_->hide();
  }
  settle_writing(is_interrupted);
  report_.dropped = player_->counters().dropped_before + player_->counters().dropped_after;
}

void Viewer::take_screenshot() {
  if (ended_ && report_.shown < options_.frames) {
    throw Error(fmt::format("{}: has no frame {} for the screenshot: it ends after {}", options_.source,
                            options_.frames, report_.shown));
  }
  if (shown_ != nullptr) {
    draw();
    const io::RgbImage picture = window_->snapshot();
    io::write_png(options_.screenshot, picture,
                  options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
    spdlog::info(fmt::format("screenshot: {}, {}x{}", options_.screenshot, picture.width, picture.height));
  }
}

bool Viewer::awaits_refinement() const {
  return !options_.screenshot.empty() && report_.shown >= options_.frames && player_->will_refine();
}

void Viewer::hand_to_screen(const std::shared_ptr<const PlayedFrame>& frame) {
  if (shown_ != nullptr && shown_->sequence != frame->sequence) {
    save_awaited();  // as it is
    before_ = shown_->noisy;
    before_sequence_ = shown_->sequence;
  }
  shown_ = frame;
  handed_at_ = Clock::now();
  noisy_uploaded_ = denoised_uploaded_ = false;
  redraw_ = true;
  for (const std::string& key : std::exchange(early_keys_, {})) {
    press(key);
  }
}

void Viewer::show(const std::shared_ptr<const PlayedFrame>& frame) {
  const bool is_same = shown_ != nullptr && shown_->sequence == frame->sequence;  // with other settings
  hand_to_screen(frame);
  ended_ = ended_ && is_same;
  const Clock::time_point now = Clock::now();
  const double latency = duration<double>(now - frame->decoded_at).count();
  constexpr double kShare = 0.1;
  latency_ += (report_.shown == 0 ? 1 : kShare) * (latency - latency_);
  if (report_.shown == 0) {
    spdlog::debug("shown: the first frame");
    const bool has_hint = options_.overlay && options_.screenshot.empty() && !panel_.is_open();
    const std::string first =
        options_.notice.empty() && has_hint ? "TAB: settings    ?: keys" : options_.notice;
    if (!first.empty()) {
      notice(first);
      notice_until_ = Clock::now() + kNewsTime;
    }
  }
  report_.add(*frame, now, options_.keep_times);
  if (options_.keep_times) {
    if (const std::optional<double> heard = audio_ != nullptr ? audio_->position() : std::nullopt) {
      report_.ahead_of_sound.push_back(frame->time - *heard);
    }
  }
  if (player_->paused()) {
    spdlog::debug(fmt::format("frame: {}", frame->noisy.index));
  }
  if (awaited_ && frame->settings == *awaited_) {
    spdlog::debug(fmt::format("shown: frame {} with {}", frame->noisy.index,
                              sigma_text(frame->level, color_plane_names(options_.format))));
    awaited_.reset();
  }
  if (!options_.screenshot.empty() && report_.shown < options_.frames) {
    player_->step_forward();
  }
}

void Viewer::handle_end() {
  if (ended_) {
    return;
  }
  if (options_.loop && player_->can_seek() && shown_ != nullptr) {
    player_->seek(0);
    seek_audio(0);
    audio_waits_ = true;
    return;
  }
  // A paused picture stays.
  if (!options_.keep_open && (!player_->paused() || !options_.screenshot.empty())) {
    quit_ = true;
  }
  ended_ = true;
  redraw_ = true;
  spdlog::debug("shown: the end");
}

void Viewer::wait_until(std::optional<Clock::time_point> next, const std::stop_token& stop) {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = now + (writing_ != nullptr ? kWritingInterval : PlaybackRates::kInterval);
  if (redraw_ && can_draw() && window_->is_visible()) {
    until = now;
  }
  if (const std::optional<Clock::time_point> changes_at = panel_.changes_at(now)) {
    until = std::min(until, *changes_at);
  }
  if (next) {
    until = std::min(until, *next);
  }
  if (const Clock::time_point hint_at = asked_at_ + kHintAfter; hint_at > now) {
    until = std::min(until, hint_at);
  }
  // Events are waited for in whole milliseconds; the rest of the time is slept exactly.
  constexpr milliseconds kRest{1};
  const auto wait = std::max(duration_cast<milliseconds>(until - now) - kRest, milliseconds(0));
  std::optional<io::WindowEvent> event = window_->wait(wait);
  while (event && !quit_) {
    handle(*event);
    event = window_->wait(milliseconds(0));
  }
  if (next && !redraw_ && !stop.stop_requested() && !quit_) {
    const Clock::time_point left = *next;
    if (left > Clock::now() && left - Clock::now() <= 2 * kRest) {
      std::this_thread::sleep_until(left);
    }
  }
}

int Viewer::text_line() const { return text_size(window_->size(), window_->scale(), options_.text_size); }

std::string Viewer::pace_hint() const {
  return player_->settings().keeps_pace ? "" : "; Q: automatic quality";
}

bool Viewer::is_late(Clock::time_point now) const {
  return now - asked_at_ > kHintAfter && shown_->settings != player_->settings();
}

// Why the result equals the source, or nearly so; empty if it does not.
std::string Viewer::noise_hint() const {
  const NoiseSettings& settings = shown_->settings.noise;
  constexpr float kHardly = 0.5F;
  const auto is_below = [](const NoiseModel& noise, float limit) {
    return std::ranges::all_of(noise.sigma, [limit](float sigma) { return sigma <= limit; });
  };
  if (settings.mix >= 1) {
    return "nothing is changed: the result is the original; D: less of it";
  }
  if (settings.strength.luma <= 0 && settings.strength.chroma <= 0) {
    return "nothing is changed: the strength is 0; UP: raise it";
  }
  if (settings.noise) {
    return is_below(shown_->noise, 0) ? "nothing is changed: the noise level is 0; +: raise it" : "";
  }
  if (!is_below(shown_->noise, kHardly)) {
    return "";
  }
  const std::string evidence = evidence_text(shown_->noise);
  const std::string reason = evidence.empty() ? "" : " (" + evidence + ")";
  return is_below(shown_->noise, 0)
             ? "no noise found" + reason + ", nothing is changed; +: denoise all the same"
             : "hardly any noise" + reason + "; UP or +: denoise more";
}

std::string Viewer::slowness_hint() const {
  if (rates_.is_decoding_slow()) {
    return "too slow: this source can't be decoded in time; pause for the final picture";
  }
  const double speed = player_options_.live ? 1 : player_->speed();
  return fmt::format("too slow: {:.0f} of {:.0f} frames a second shown{}{}", rates_.shown_fps(),
                     player_options_.frames_per_second * speed,
                     player_options_.live ? "" : "; pause for the final picture", pace_hint());
}

// The hint that the window shows without a request.
std::string Viewer::standing_hint(Clock::time_point now) const {
  const bool is_long = now - asked_at_ > kHintAfter;
  if (shown_ == nullptr) {
    return is_long ? "opening " + options_.source : "";
  }
  if (shown_->is_waiting && !shown_->is_glimpse && handed_at_ > asked_at_) {
    return std::string(report_.shown == 0 ? "denoising the first frame" : "denoising") + pace_hint();
  }
  if (player_->is_seeking()) {
    return is_long ? "seeking " + time_text(player_->position(), false) : "";
  }
  if (awaited_ && is_long && shown_->settings != *awaited_) {
    return "denoising with the new settings" + pace_hint();
  }
  if (std::string why = shown_->is_waiting ? "" : noise_hint(); !why.empty()) {
    return why;
  }
  return rates_.is_slow() && !ended_ && !player_->paused() ? slowness_hint() : "";
}

void Viewer::hint(Clock::time_point now) {
  std::string next = options_.overlay ? standing_hint(now) : "";
  if (next != state_.hint) {
    state_.hint = std::move(next);
    if (!state_.hint.empty()) {
      spdlog::debug(fmt::format("hint: {}", state_.hint));
    }
    redraw_ = true;
  }
}

// Uploads what the view needs of the frame that is shown.
void Viewer::upload_pictures() {
  const Side side = shown_side();
  if (side == Side::kPair) {
    // The picture of before stays until the result is there.
    const auto result = [this](std::size_t which) {
      const auto frame = editor_.pair().result(which, shown_->sequence, player_->settings());
      return frame != nullptr ? frame->denoised : shown_->denoised;
    };
    painter_.set_first(result(0));
    painter_.set_second(result(1));
    noisy_uploaded_ = denoised_uploaded_ = false;
    return;
  }
  if (side != Side::kDenoised && !noisy_uploaded_) {
    painter_.set_first(shown_->noisy);
    noisy_uploaded_ = true;
  }
  if (side != Side::kNoisy && !denoised_uploaded_) {
    painter_.set_second(shown_->denoised);
    denoised_uploaded_ = true;
  }
}

io::Size Viewer::picture_area() const {
  io::Size area = stage();
  area.width /= state_.side == Side::kSideBySide ? 2 : 1;
  return area;
}

void Viewer::draw_picture() {
  upload_pictures();
  const io::Size size = stage();
  View::Placement placement = view_.place(picture_area());
  const auto draw_part = [&](io::PictureChoice choice, int left, int right) {
    painter_.draw({placement.source,
                   placement.target,
                   {left, 0, right - left, size.height},
                   placement.smooth,
                   choice,
                   state_.gain},
                  window_->size());
  };
  window_->clear();
  switch (shown_side()) {
    case Side::kSplit:
    case Side::kPair:
      draw_part(io::PictureChoice::kFirst, 0, split_.column(size.width));
      draw_part(io::PictureChoice::kSecond, split_.column(size.width), size.width);
      break;
    case Side::kNoisy:
      draw_part(io::PictureChoice::kFirst, 0, picture_area().width);
      if (state_.side == Side::kSideBySide) {  // and nothing is denoised yet
        placement.target.x += size.width / 2;
        draw_part(io::PictureChoice::kFirst, size.width / 2, size.width);
      }
      break;
    case Side::kDenoised:
      draw_part(io::PictureChoice::kSecond, 0, size.width);
      break;
    case Side::kDifference:
      draw_part(io::PictureChoice::kDifference, 0, size.width);
      break;
    case Side::kSideBySide:
      draw_part(io::PictureChoice::kFirst, 0, size.width / 2);
      placement.target.x += size.width / 2;
      draw_part(io::PictureChoice::kSecond, size.width / 2, size.width);
      break;
  }
}

void Viewer::draw() {
  const io::Size size = stage();
  const int split = split_.column(size.width);
  draw_picture();
  controls_.begin(window_->size(), scale(), text_line());
  if (shown_side() == Side::kSplit || shown_side() == Side::kPair) {
    const auto x = static_cast<float>(split);
    const auto bottom = static_cast<float>(size.height);
    ImGui::GetBackgroundDrawList()->AddRectFilled({x - 2, 0}, {x + 2, bottom}, kLineEdgeInk);
    ImGui::GetBackgroundDrawList()->AddRectFilled({x - 1, 0}, {x + 1, bottom}, kLineInk);
  }
  draw_labels(split);
  draw_box();
  draw_text(Clock::now());
  draw_controls();
  controls_.end();
}

// The window before the first frame.
void Viewer::draw_opening() {
  window_->clear();
  controls_.begin(window_->size(), scale(), text_line());
  draw_text(Clock::now());
  controls_.end();
}

ControlState Viewer::control_state() const {
  ControlState state;
  state.position = position();
  state.duration = options_.duration;
  state.live = player_options_.live;
  state.still_picture = options_.still_picture;
  state.can_seek = player_->can_seek();
  state.paused = player_->paused() || ended_;
  state.full_screen = window_->is_full_screen();
  state.speed = player_->speed();
  state.volume = audio_ != nullptr ? std::optional(state_.volume) : std::nullopt;
  state.passage = state_.passage;
  state.settings = state_.side == Side::kPair ? editor_.pair().both(player_->settings())[pair_choice_ ? 1 : 0]
                                              : player_->settings();
  state.used = short_text(filter_settings(shown_->is_refined ? shown_->settings : shown_->used));
  state.noise = shown_->noise;
  state.evidence = noise_remark();
  state.color_model = options_.format.color_model;
  state.planes = color_plane_names(options_.format);
  state.linked = editor_.is_linked();
  state.second_settings = state_.side == Side::kPair ? pair_choice_ : editor_.pair().second();
  state.has_box = box_ && state.settings.noise.noise == box_noise_;
  state.can_open = options_.refuse_file != nullptr;
  state.loops_back = options_.loops_back && options_.loops_back();
  state.cameras = options_.cameras;
  state.camera = options_.source;
  state.filters = options_.filters;
  state.side = state_.side;
  state.zoom = view_.zoom();
  state.gain = state_.gain;
  state.recording = options_.recording ? options_.recording() : "";
  state.writing = writing_ != nullptr ? std::optional(writing_->progress()) : std::nullopt;
  state.written = io::valid_utf8(std::filesystem::path(written_).filename().string());
  state.asks_to_quit = state_.asks_to_quit;
  return state;
}

void Viewer::draw_controls() {
  grant(panel_.draw(control_state(), window_->size(), scale(), Clock::now()));
  if (files_.is_open()) {
    const auto text = [this](const std::string& line) { return controls_.text(line); };
    if (const auto chosen = panel_.draw_files(files_, window_->size(), text)) {
      open_file(chosen->string());
    } else if (!files_.is_open()) {
      notice("files closed");
    }
  }
  panel_.end();
}

// Does what the user asked for with the pointer.
void Viewer::grant(const ControlRequests& requests) {
  if (requests.settings) {
    restore_pair();
  }
  for (const std::string& key : requests.keys) {
    press(key);
  }
  if (requests.seek) {
    seek_to(*requests.seek);
  }
  if (requests.speed) {
    change_speed(*requests.speed);
  }
  if (requests.volume) {
    change_volume(*requests.volume);
  }
  if (requests.gain) {
    change_gain(*requests.gain);
  }
  if (requests.zoom) {
    const io::Size area = picture_area();
    change_zoom(*requests.zoom, area.width / 2.0, area.height / 2.0);
  }
  if (requests.camera) {
    show_camera(*requests.camera);
  }
  if (requests.settings) {
    change_settings(*requests.settings, settings_text(*requests.settings), gesture_);
  }
  if (requests.quit) {
    answer(*requests.quit);
  }
}

// Draws once more when the controls hide. The pointer hides with them in full screen.
void Viewer::follow_visibility(Clock::time_point now) {
  if (controls_.has_keyboard()) {
    panel_.notice_pointer(now, true);
  }
  if (const auto tooltip_at = panel_.tooltip_at(now); tooltip_at && *tooltip_at <= now) {
    redraw_ = true;
    settling_ = kFramesToSettle;
  }
  const bool visible = panel_.is_visible(now);
  if (visible != panel_was_visible_) {
    panel_was_visible_ = visible;
    redraw_ = true;
  }
  window_->show_pointer(visible || !window_->is_full_screen());
}

// The box with handles at its corners and edges.
void Viewer::draw_box() {
  if (!box_ || (!marking_ && !box_->is_held() && !panel_.is_visible(Clock::now()))) {
    return;
  }
  const io::Rectangle& box = box_->box();
  const io::Size area = picture_area();
  const View::Point first = view_.to_window({double(box.x), double(box.y)}, area);
  const View::Point last = view_.to_window({double(box.x + box.width), double(box.y + box.height)}, area);
  ImDrawList* const list = ImGui::GetBackgroundDrawList();
  const auto outline = [&](double inset, ImU32 color) {
    list->AddRect({static_cast<float>(first.x + inset), static_cast<float>(first.y + inset)},
                  {static_cast<float>(last.x - inset), static_cast<float>(last.y - inset)}, color);
  };
  outline(0, kLineInk);
  outline(1, kLineEdgeInk);
  const View::Point middle{(first.x + last.x) / 2, (first.y + last.y) / 2};
  const auto half = static_cast<float>(kHandle * scale() / 2);
  for (const double x : {first.x, middle.x, last.x}) {
    for (const double y : {first.y, middle.y, last.y}) {
      if (marking_ || (x == middle.x && y == middle.y)) {
        continue;
      }
      const ImVec2 at{static_cast<float>(x), static_cast<float>(y)};
      list->AddRectFilled({at.x - half - 1, at.y - half - 1}, {at.x + half + 1, at.y + half + 1},
                          kLineEdgeInk);
      list->AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, kLineInk);
    }
  }
}

View::Point Viewer::in_picture(const io::WindowEvent& event) const {
  return view_.to_picture({event.x - pressed_at_, event.y}, picture_area());
}

// True if the pointer holds the box now.
bool Viewer::grab_box(const io::WindowEvent& event) {
  if (!box_ || event.right || !panel_.is_visible(Clock::now())) {
    return false;
  }
  const View::Point at = in_picture(event);
  const View::Point unit = view_.to_picture({event.x + 1, event.y}, picture_area());
  const double pixel = unit.x - view_.to_picture({event.x, event.y}, picture_area()).x;
  return box_->grab(at.x, at.y, kHandle * scale() * pixel);
}

void Viewer::draw_labels(int split) {
  if (!state_.labels) {
    return;
  }
  const io::Size size = stage();
  const int margin = text_margin(text_line());
  const int bottom = bottom_of_pictures();
  std::string drawn;
  // A label keeps to its side of the line.
  const auto label = [&](const std::string& text, int x, bool left_of_it) {
    const int room = std::max((left_of_it ? x : size.width - x) - 2 * margin, 6 * text_line());
    const TextBox box({text}, text_line(), room);
    drawn += (drawn.empty() ? "" : " | ") + text;
    box.draw(left_of_it ? x - margin - box.size().width : x + margin, bottom - margin - box.size().height);
  };
  const std::string result = result_label(*shown_, is_late(Clock::now()), player_options_.live);
  switch (shown_side()) {
    case Side::kSplit:
      label("noisy", split, true);
      label(result, split, false);
      break;
    case Side::kNoisy:
      label("noisy", 0, false);
      break;
    case Side::kDenoised:
      label(result, 0, false);
      break;
    case Side::kPair: {
      const std::array<std::string, 2> texts = pair_labels();
      label(texts[0], split, true);
      label(texts[1], split, false);
      break;
    }
    case Side::kSideBySide:
      label("noisy", 0, false);
      label(result, size.width / 2, false);
      break;
    case Side::kDifference:
      label(fmt::format("noisy - denoised, x{:.3g}", state_.gain), 0, false);
      break;
  }
  if (drawn != state_.label_text) {
    spdlog::debug(fmt::format("labels: {}", drawn));
    state_.label_text = std::move(drawn);
  }
}

// The settings A and B, as far as their results are there.
std::array<std::string, 2> Viewer::pair_labels() const {
  const PlayerSettings used = player_->settings();
  const std::array<PlayerSettings, 2> both = editor_.pair().both(used);
  std::array<std::string, 2> labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool is_there = editor_.pair().result(i, shown_->sequence, used) != nullptr;
    labels[i] = fmt::format("{}: {}", i == 0 ? "A" : "B", is_there ? settings_text(both[i]) : "computing");
  }
  return labels;
}

int Viewer::bottom_of_pictures() const {
  const int window = window_->size().height;
  const bool bar = panel_.is_visible(Clock::now()) && shown_ != nullptr;
  return bar ? window - panel_.bar_height(window_->size(), scale()) : window;
}

// The certainty of the noise estimate or its reason, and the kind of the noise.
std::string Viewer::noise_remark() const {
  const std::string shape = shape_text(shown_->noise, options_.format.color_model);
  const std::string evidence = evidence_text(shown_->noise);
  return shape + (shape.empty() || evidence.empty() ? "" : ", ") + evidence;
}

void Viewer::draw_text(Clock::time_point now) {
  const int line = text_line();
  const int margin = text_margin(line);
  const io::Size size = stage();
  const int inner = size.width - 2 * margin;
  if (state_.statistics && !state_.help && shown_ != nullptr) {
    Statistics shown = statistics();
    shown.source = controls_.text(shown.source);
    statistics_box(shown, line, size).draw(margin, margin);
  }
  int bottom = bottom_of_pictures() - margin - 2 * line - margin;  // above the labels
  const auto tell = [&](const std::string& text) {
    const TextBox box({controls_.text(text)}, line, inner);
    bottom -= box.size().height;
    box.draw((size.width - box.size().width) / 2, bottom);
    bottom -= margin;
  };
  if (!notice_.empty() && now < notice_until_) {
    tell(notice_);
  }
  if (!state_.hint.empty() && !state_.help) {
    tell(state_.hint);
  }
  if (state_.help) {
    std::vector<KeyHelp> help;
    std::ranges::copy_if(key_help(), std::back_inserter(help), [this](const KeyHelp& each) {
      return is_in_scope(each.scope, player_options_.live, options_.still_picture);
    });
    const TextBox box = help_box(key_help_lines(help, "\t"), line, size);
    box.draw((size.width - box.size().width) / 2, std::max((size.height - box.size().height) / 2, 0));
  }
}

void Viewer::measure(Clock::time_point now) {
  if (!rates_.is_due(now)) {
    return;
  }
  const PlayerCounters& counters = player_->counters();
  using std::chrono::nanoseconds;
  rates_.measure({.at = now,
                  .shown = counters.shown,
                  .denoised = counters.denoise.frames,
                  .reading = nanoseconds(counters.read.busy_ns),
                  .denoising = nanoseconds(counters.denoise.busy_ns) + player_->at_work(),
                  .presenting = nanoseconds(presenting_.busy_ns)},
                 {.frames_per_second = player_options_.frames_per_second * player_->speed(),
                  .runs = !player_->paused() && !ended_,
                  .live = player_options_.live});
  if (rates_.loads()) {
    spdlog::debug(fmt::format("rates: {:.1f} frames shown a second, denoising busy {:.0f} %",
                              rates_.shown_fps(), 100 * rates_.loads()->denoising));
  }
  redraw_ = redraw_ || state_.statistics;
}

Statistics Viewer::statistics() const {
  const PlayerCounters& counters = player_->counters();
  Statistics statistics;
  statistics.source = options_.source;
  statistics.format = limpid::to_string(options_.format) + "  " +
                      io::to_string(options_.display, options_.format.color_model) +
                      (shown_->noisy.interlaced ? "  interlaced" : "");
  statistics.engine = options_.engine;
  statistics.position = position();
  statistics.duration = options_.duration;
  statistics.frame = shown_->noisy.index;
  const double speed = player_->speed();
  statistics.runs = !ended_ && !player_->paused();
  statistics.state = player_->is_seeking()  ? "seeking"
                     : ended_               ? "end"
                     : player_->paused()    ? "paused"
                     : player_options_.live ? "live"
                     : speed != 1           ? fmt::format("playing x{:.2f}", speed)
                                            : "playing";
  if (const std::string recording = options_.recording ? options_.recording() : ""; !recording.empty()) {
    statistics.state += "   " + recording;
  }
  statistics.source_fps = options_.still_picture ? 0 : player_options_.frames_per_second;
  statistics.shown_fps = rates_.shown_fps();
  statistics.denoise_fps = rates_.denoised_fps();
  statistics.denoise_fps_alone = rates_.denoised_fps_alone();
  statistics.dropped = counters.dropped_before + counters.dropped_after;
  statistics.live = player_options_.live;
  statistics.latency = player_options_.live ? latency_ : player_->turnaround();
  const PlayerSettings& settings = shown_->settings;
  // The settings of the shown frame; a refined frame has the requested ones.
  const PlayerSettings& used = shown_->is_refined ? settings : shown_->used;
  const FilterSettings filter = filter_settings(used);
  statistics.filter = filter.name;
  statistics.profile = filter.profile.value_or("");
  statistics.keeps_pace = settings.keeps_pace;
  for (const std::string_view plane : color_plane_names(options_.format)) {
    statistics.planes.emplace_back(plane);
  }
  statistics.level = shown_->noise;
  const Strength& strength = settings.noise.strength;
  statistics.strength = strength == Strength() ? "" : limpid::to_string(strength);
  statistics.noise_shape = noise_remark();
  statistics.estimated = !settings.noise.noise;
  if (rates_.loads()) {
    if (!player_options_.live) {  // reading a live source is mostly waiting
      statistics.loads.push_back({"decode", rates_.loads()->reading});
    }
    statistics.loads.push_back({"denoise", rates_.loads()->denoising});
    statistics.loads.push_back({"present", rates_.loads()->presenting});
  }
  return statistics;
}

void Viewer::follow_audio() {
  if (audio_ == nullptr) {
    return;
  }
  if (const std::string failure = audio_->failure(); !failure.empty()) {
    spdlog::warn(fmt::format("{}: no more sound: {}", options_.source, failure));
    notice("no more sound: " + failure);
    audio_.reset();
    return;
  }
  const bool plays = !audio_waits_ && !ended_ && !player_->paused() && player_->speed() == 1;
  audio_->set_playing(plays);
  if (!plays) {
    return;
  }
  if (const std::optional<double> position = audio_->position()) {
    player_->follow_audio(*position);
  }
}

void Viewer::seek_audio(double time) {
  if (audio_ != nullptr) {
    audio_->seek(time);
  }
  audio_begins_at_ = time;
}

void Viewer::handle(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  const io::Size size = window_->size();
  switch (event.kind) {
    case Kind::kClose:
      is_lost_ = event.is_lost;
      if (is_lost_) {
        quit_ = true;
      } else {
        ask_to_quit();
      }
      break;
    case Kind::kKey:
      handle_key(event);
      break;
    case Kind::kPointer:
    case Kind::kDrag:
    case Kind::kPress:
    case Kind::kRelease:
    case Kind::kLeave:
    case Kind::kWheel:
      handle_pointer(event);
      break;
    case Kind::kFile:
      open_file(event.path);
      break;
    case Kind::kChanged:
      if (size != window_size_) {
        window_size_ = size;
        split_.forget_pointer();
      }
      redraw_ = true;
      break;
    case Kind::kWake:
      break;
  }
}

// Keys are for the question, an open list or a field, the list of files, or the table of keys.
void Viewer::handle_key(const io::WindowEvent& event) {
  redraw_ = true;
  settling_ = kFramesToSettle;
  if (shown_ != nullptr && controls_.has_events()) {
    while (controls_.has_events()) {  // clicks that were made before
      draw();
    }
    draw();
  }
  if (state_.asks_to_quit) {
    for (const auto& [key, reply] :
         {std::pair{"ENTER", QuitAnswer::kFinish}, {"c", QuitAnswer::kCancel}, {"ESC", QuitAnswer::kBack}}) {
      if (event.key == key) {
        return answer(reply);
      }
    }
  } else if (controls_.has_keyboard()) {
    controls_.handle(event);
  } else if (!files_.is_open()) {
    press(event.key, event.repeats);
  } else if (const auto chosen = files_.press(event.key)) {
    open_file(chosen->string());
  }
}

// Events of the pointer are for the controls, or for the picture.
void Viewer::handle_pointer(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  if (event.kind == Kind::kPress && event.clicks != 2) {
    ++gesture_;
  }
  controls_.handle(event);
  redraw_ = redraw_ || panel_.is_visible(Clock::now());
  settling_ = panel_.is_visible(Clock::now()) ? kFramesToSettle : 0;
  if (event.kind == Kind::kPress && shown_ != nullptr && panel_.is_visible(Clock::now())) {
    draw();  // so that the controls find the item below the pointer
  }
  const bool on_controls = state_.asks_to_quit || (controls_.has_pointer() && !on_picture_);
  if (event.kind != Kind::kLeave) {
    panel_.notice_pointer(Clock::now(), on_controls);
  }
  if (event.kind == Kind::kRelease) {
    handle_release(event);
  }
  if (on_controls) {
    return;
  }
  if (event.kind == Kind::kPointer) {
    pointer_x_ = event.x;
    pointer_y_ = event.y;
    redraw_ = (split_.point(event.x, stage().width) && has_line()) || redraw_;
  } else if (event.kind == Kind::kDrag) {
    handle_drag(event);
  } else if (event.kind == Kind::kPress) {
    // The first press of a double click may have chosen this source in the window of another one.
    if (event.clicks == 2 && !std::exchange(was_pressed_, true)) {
      return;
    }
    was_pressed_ = true;
    on_picture_ = true;
    dragged_ = 0;
    const int half = picture_area().width;
    pressed_at_ = state_.side == Side::kSideBySide && event.x >= half ? half : 0;
    if (grab_box(event)) {
      return;
    }
    if (event.clicks == 2 && !event.right) {
      window_->toggle_full_screen();
    }
  } else if (event.kind == Kind::kLeave) {
    split_.leave();
    redraw_ = true;
  } else if (event.kind == Kind::kWheel && event.dy != 0) {
    change_zoom(view_.next_zoom(event.dy > 0, picture_area()), event.x, event.y);
  }
}

void Viewer::handle_drag(const io::WindowEvent& event) {
  dragged_ += std::abs(event.dx) + std::abs(event.dy);
  redraw_ = true;
  if (event.right) {
    const double x = event.x - pressed_at_;
    marking_ = marking_.value_or(View::Point{x - event.dx, event.y - event.dy});
    box_.emplace(view_.picture_part(marking_->x, marking_->y, x, event.y, picture_area()), picture_size(),
                 NoiseTracker::kLeastSide);
    return;
  }
  if (box_ && box_->is_held()) {
    const View::Point at = in_picture(event);
    return box_->drag(at.x, at.y);
  }
  const bool picture_moves = view_.zoom() > 0 || !has_line();
  pointer_x_ = event.x;
  pointer_y_ = event.y;
  if (!split_.drag(event.x - event.dx, event.x, stage().width, event.touch, picture_moves)) {
    view_.pan(event.dx, event.dy);
  }
}

void Viewer::handle_release(const io::WindowEvent& event) {
  constexpr double kClick = 4;
  const bool held_box = box_ && box_->is_held();
  const bool moved_box = held_box && box_->release();
  if (((event.right && marking_) || moved_box) && shown_ != nullptr) {
    take_noise_of_box();
  } else if (on_picture_ && !held_box && !event.right && dragged_ < kClick && shown_ != nullptr) {
    toggle_pause();
  }
  on_picture_ = false;
  marking_.reset();
  split_.release();
}

void Viewer::notice(const std::string& text) {
  spdlog::debug(fmt::format("key: {}", text));
  notice_ = text;
  notice_until_ = Clock::now() + kNoticeTime;
  redraw_ = true;
}

void Viewer::tell_news() {
  const News news = options_.news ? options_.news() : News{};
  if (news.text.empty()) {
    return;
  }
  spdlog::debug(fmt::format("news: {}", news.text));
  if (news.is_failure || notice_until_ != Clock::time_point::max()) {
    notice_ = news.text;
    notice_until_ = news.is_failure ? Clock::time_point::max() : Clock::now() + kNewsTime;
    redraw_ = true;
  }
}

}  // namespace limpid::app
