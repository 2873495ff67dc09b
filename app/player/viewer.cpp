// SPDX-License-Identifier: MIT
#include "app/player/viewer.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "app/player/properties.h"
#include "core/base/error.h"
#include "core/base/system/stop_callback.h"
#include "core/frame/frame.h"
#include "io/screen/control_layer.h"
#include "io/screen/display.h"

namespace limpid::app {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kWritingInterval{200};
// Time before the window explains what the user is waiting for.
constexpr milliseconds kHintAfter{300};

/// The time that the refinement of a frame with these settings takes, in seconds; 0 if not known.
double refining_seconds(const PlayerStages& stages, const PlayerSettings& settings) {
  if (!stages.ladder || !stages.refining_reach) {
    return 0;
  }
  const QualityLadder ladder = stages.ladder(settings);
  const auto known = std::find_if(ladder.rungs.rbegin(), ladder.rungs.rend(),
                                  [](const QualityRung& rung) { return rung.seconds.has_value(); });
  const Reach reach = stages.refining_reach(settings);
  return known == ladder.rungs.rend() ? 0
                                      : *known->seconds * ladder.rungs.back().cost / known->cost *
                                            static_cast<double>(reach.before + reach.after + 1);
}

}  // namespace

Viewer::Viewer(ViewerOptions options, PlayerStages stages, PlayerOptions player_options)
    : options_(std::move(options)),
      player_options_(std::move(player_options)),
      refining_time_([stages](const PlayerSettings& settings) { return refining_seconds(stages, settings); }),
      screen_(options_),
      area_(options_, stages.engine, screen_.view().picture()),
      mouse_(screen_, area_, state_),
      pixels_(options_, stages.engine),
      input_(options_, [this](const std::string& text) { notice(text); }),
      output_(options_, stages.engine, [this](const std::string& text) { notice(text); }),
      measurements_(options_, player_options_),
      cameras_(options_.cameras) {
  for (const Property& property : properties()) {
    if (property.is_of_shader) {
      state_.shader_values[std::string(property.name)] = property.range.standard;
    }
  }
  state_.side = options_.side;
  if (options_.mirrored) {
    state_.mirrored = true;
    screen_.view().mirror();
  }
  stages.wake = [this] { screen_.window().wake(); };
  keep_results_on_gpu(stages);
  player_ = std::make_unique<Player>(std::move(stages), player_options_);
  state_.passage = options_.passage;
  state_.loops = options_.loop && player_->can_seek();
  state_.plays_passage = options_.passage != Passage{};
  if (is_bounded()) {
    player_->set_passage(state_.passage, state_.loops);
    if (state_.plays_passage) {
      player_->seek(state_.passage.begin.value_or(0));
    }
  }
}

Viewer::~Viewer() = default;

// If the engine's GPU draws the window, results need not pass through the host's memory, where filters of
// pictures run.
void Viewer::keep_results_on_gpu(PlayerStages& stages) {
  if (options_.after != nullptr || stages.engine == nullptr || stages.engine->result_memory().is_host()) {
    return;
  }
  FramePool::Allocator frames;
  try {
    frames = screen_.painter().share(stages.engine->result_memory());
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
  const StopCallback wake(stop, [this] { screen_.window().wake(); });
  if (!options_.screenshot.empty()) {
    player_->set_paused(true);  // frame by frame, so that none is dropped
  }
  while (step(stop)) {
  }
  finish_showing(stop.stop_requested());
}

bool Viewer::step(const std::stop_token& stop, milliseconds most) {
  if (state_.quits || stop.stop_requested()) {
    return false;
  }
  const Player::Taken taken = player_->take(Clock::now());
  show_taken(taken);
  follow(Clock::now());
  draw_if_needed();
  const bool is_needed = !options_.is_needed || screen_.window().is_on_screen() || options_.is_needed();
  if (is_needed && awaits_refinement()) {
    // The screenshot is to show it.
  } else if (!is_needed || (options_.frames > 0 && report().shown >= options_.frames)) {
    state_.quits = true;
  } else if (taken.ended) {
    handle_end();
  }
  if (!state_.quits) {
    const milliseconds longest = output_.is_writing() ? std::min(kWritingInterval, most) : most;
    wait_until(taken.ended && state_.ended ? std::nullopt : taken.next_at, Clock::now() + longest, stop);
  }
  return !state_.quits && !stop.stop_requested();
}

void Viewer::show_taken(const Player::Taken& taken) {
  if (taken.frame != nullptr) {
    show(taken.frame);
  } else if (taken.waiting != nullptr) {
    hand_to_screen(taken.waiting);
  }
  if (taken.refined != nullptr) {
    hand_to_screen(taken.refined);
  }
  if (!saves_.empty() && !awaited_ && !player_->will_refine()) {
    save_awaited();
  }
  if (taken.begins) {
    audio_.begin(shown_->time);
  }
}

void Viewer::show(const PlayedFramePointer& frame) {
  const bool is_same = shown_ != nullptr && shown_->sequence == frame->sequence;  // with other settings
  hand_to_screen(frame);
  state_.ended = state_.ended && is_same;
  if (report().shown == 0) {
    const bool has_hint = options_.overlay && options_.screenshot.empty() && !screen_.controls().is_open();
    const std::string first =
        options_.notice.empty() && has_hint
            ? fmt::format("{}: settings    {}: keys", key_of("toggle panel"), key_of("toggle help"))
            : options_.notice;
    if (!first.empty()) {
      notices_.show(first, Clock::now(), true);
    }
  }
  measurements_.add(*frame, audio_.position());
  if (awaited_ && frame->settings == *awaited_) {
    awaited_.reset();
  }
  if (!options_.screenshot.empty() && report().shown < options_.frames) {
    player_->step_forward();
  }
}

void Viewer::hand_to_screen(const PlayedFramePointer& frame) {
  if (shown_ != nullptr && shown_->sequence != frame->sequence) {
    save_awaited();  // as it is
    area_.leave(*shown_);
  }
  shown_ = frame;
  handed_at_ = Clock::now();
  screen_.forget_pictures();
  screen_.redraw();
  for (const std::string& key : std::exchange(early_keys_, {})) {
    press(key, false);
  }
}

// Adapts the window to what has changed elsewhere.
void Viewer::follow(Clock::time_point now) {
  const bool is_measured = measurements_.measure(*player_, is_playing(), now);
  follow_audio();
  if (awaits_final()) {
    screen_.redraw();  // the label counts seconds
  }
  if (output_.is_writing() && (state_.asks_to_quit || screen_.shows_controls())) {
    screen_.redraw();
  }
  if (output_.poll()) {
    state_.asks_to_quit = false;
  }
  if (shown_ != nullptr) {
    player_->set_view(first_part());
  }
  follow_pair();
  follow_loop();
  follow_camera();
  screen_.follow(now);
  if (const News news = options_.news ? options_.news() : News{}; !news.text.empty()) {
    notices_.report(news, now);
    screen_.redraw();
  }
  if (notices_.expire(now) || (is_measured && state_.statistics)) {
    screen_.redraw();
  }
  hint(now);
}

void Viewer::follow_audio() {
  if (const std::string failure = audio_.take_failure(); !failure.empty()) {
    spdlog::warn(fmt::format("{}: no more sound: {}", options_.source, failure));
    return notice("no more sound: " + failure);
  }
  if (const std::optional<double> heard =
          audio_.play(is_playing() && io::AudioOutput::is_speed(player_->speed()))) {
    player_->follow_audio(*heard);
  }
}

// Denoises the paused picture with A and with B, one after the other.
void Viewer::follow_pair() {
  if (state_.side != Side::kPair || shown_ == nullptr || shown_->is_waiting || player_->will_refine()) {
    return;
  }
  if (!player_->paused()) {
    return change_side(Side::kSplit);
  }
  const SettingsPair::Comparison comparison = pair_.compare(shown_, player_->settings());
  if (comparison.has_result) {
    screen_.redraw();
  }
  if (comparison.next) {
    request_settings(*comparison.next);
  }
}

void Viewer::follow_loop() {
  const LoopStatus::State state = player_->loop_status().state;
  if (state == LoopStatus::State::kComputing) {
    screen_.redraw();
  }
  if (state == loop_state_) {
    return;
  }
  loop_state_ = state;
  if (state == LoopStatus::State::kComplete) {
    notice("loop: final result from memory");
  } else if (state == LoopStatus::State::kTooLong) {
    notice("loop: too long for --loop-memory, denoised in each round");
  }
}

void Viewer::follow_camera() {
  std::string trouble = options_.trouble ? options_.trouble() : "";
  if (trouble != trouble_) {
    cameras_ = trouble.empty() ? options_.cameras : options_.find_cameras();
    trouble_ = std::move(trouble);
    screen_.redraw();
  }
}

void Viewer::hint(Clock::time_point now) {
  std::string next = options_.overlay || !trouble_.empty() ? standing_hint(now) : "";
  if (next != state_.hint) {
    state_.hint = std::move(next);
    screen_.redraw();
  }
}

// The hint that the window shows without a request.
std::string Viewer::standing_hint(Clock::time_point now) const {
  const bool is_long = now - asked_at_ > kHintAfter;
  if (!trouble_.empty()) {
    return trouble_ +
           (cameras_.empty() ? "" : fmt::format("    {}: {}", key_of("next-camera"), cameras_.front().name));
  }
  if (shown_ == nullptr) {
    return is_long ? "opening " + options_.source : "";
  }
  if (shown_->is_waiting && !shown_->is_glimpse && handed_at_ > asked_at_) {
    return (report().shown == 0 ? "denoising the first frame" : "denoising") + pace_hint(player_->settings());
  }
  if (player_->is_seeking()) {
    return is_long ? "seeking " + time_text(player_->position(), false) : "";
  }
  if (awaited_ && is_long && shown_->settings != *awaited_) {
    return "denoising with the new settings" + pace_hint(player_->settings());
  }
  if (std::string why = shown_->is_waiting ? "" : noise_hint(*shown_); !why.empty()) {
    return why;
  }
  // A draft is slow while the passage is computed.
  const bool is_draft = player_->loop_status().state == LoopStatus::State::kComputing;
  return is_playing() && !is_draft ? measurements_.slowness(*player_) : "";
}

void Viewer::draw_if_needed() {
  const bool is_explained = shown_ != nullptr || !state_.hint.empty();
  if (!screen_.needs_drawing() || !is_explained) {
    return;
  }
  if (shown_ != nullptr) {
    draw();
  } else {
    screen_.draw_opening(*this);
  }
  measurements_.time_presenting([this] { screen_.present(); });
}

void Viewer::draw() {
  const std::optional<std::filesystem::path> chosen = screen_.draw(*this, input_.list());
  for (const std::string& line : std::exchange(requests_, {})) {
    restore_pair();
    execute(line, mouse_.gesture());
  }
  if (chosen) {
    open_file(chosen->string());
  }
}

void Viewer::wait_until(std::optional<Clock::time_point> next, Clock::time_point until,
                        const std::stop_token& stop) {
  const Clock::time_point now = Clock::now();
  const bool draws = screen_.needs_drawing() && (shown_ != nullptr || !state_.hint.empty());
  until = draws ? now : until;
  for (const auto& at : {screen_.controls().changes_at(now), next}) {
    until = std::min(until, at.value_or(until));
  }
  if (const Clock::time_point hint_at = asked_at_ + kHintAfter; hint_at > now) {
    until = std::min(until, hint_at);
  }
  // Events are waited for in whole milliseconds; the rest of the time is slept exactly.
  constexpr milliseconds kExact{1};
  const auto wait = std::max(duration_cast<milliseconds>(until - now) - kExact, milliseconds(0));
  std::optional<io::WindowEvent> event = screen_.window().wait(wait);
  while (event && !state_.quits) {
    handle(*event);
    event = screen_.window().wait(milliseconds(0));
  }
  if (next && !screen_.needs_drawing() && !stop.stop_requested() && !state_.quits && *next > Clock::now() &&
      *next - Clock::now() <= 2 * kExact) {
    std::this_thread::sleep_until(*next);
  }
}

void Viewer::handle_end() {
  if (state_.ended) {
    return;
  }
  const bool goes_on = !player_->paused() || !options_.screenshot.empty();
  if (state_.loops && goes_on && player_->can_seek() && shown_ != nullptr) {
    const double begin = state_.passage.begin.value_or(0);
    asked_at_ = Clock::now();
    player_->seek(begin);
    return audio_.seek_with_picture(begin);
  }
  // A paused picture stays.
  if (!options_.keep_open && (!player_->paused() || !options_.screenshot.empty())) {
    state_.quits = true;
  }
  state_.ended = true;
  screen_.redraw();
}

// Does what remains before run() ends.
void Viewer::finish_showing(bool is_interrupted) {
  restore_pair();
  save_awaited();
  io::Window& window = screen_.window();
  const bool is_last = next_input().empty() && !next_camera_;
  if (!is_last && shown_ != nullptr && window.is_visible()) {
    notice("opening " + (next_camera_ ? next_camera_->name : next_input()));
    draw();  // it stays until the next source has frames
    window.present();
  }
  if (!options_.screenshot.empty()) {
    take_screenshot();
  }
  audio_.play(false);
  // Nobody waits for the rest before a window that does not react.
  if (is_last && !state_.window_is_lost && window.is_visible()) {
    window.hide();
  }
  output_.settle(is_interrupted || state_.cancels_output);
  measurements_.report().dropped = counters().dropped_before + counters().dropped_after;
}

void Viewer::take_screenshot() {
  if (state_.ended && report().shown < options_.frames) {
    throw Error(fmt::format("{}: has no frame {} for the screenshot: it ends after {}", options_.source,
                            options_.frames, report().shown));
  }
  if (shown_ != nullptr) {
    draw();
    const io::RgbImage picture = screen_.window().snapshot();
    io::write_png(options_.screenshot, picture,
                  options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
    spdlog::info(fmt::format("screenshot: {}, {}x{}", options_.screenshot, picture.width, picture.height));
  }
}

// The part of the displayed picture of which the result is seen.
io::Rectangle Viewer::denoised_part() const {
  io::Rectangle seen = screen_.seen_part(state_.side);
  if (state_.side == Side::kSplit) {
    const int end = seen.x + seen.width;
    seen.x = std::clamp(screen_.split_column(), seen.x, end);
    seen.width = end - seen.x;
  }
  return seen;
}

// The part of the stored frame that is refined first: what is seen, and of much of it what is beside the
// line.
std::optional<Region> Viewer::first_part() const {
  io::Rectangle part = denoised_part();
  if (state_.side == Side::kSplit) {
    part.width = std::min(part.width, screen_.view().picture().width / 3);
  }
  return options_.after != nullptr || part.width <= 0 || part.height <= 0
             ? std::nullopt
             : std::optional(stored_region(part, options_.format, options_.display));
}

bool Viewer::view_is_final() const {
  if (!awaits_final()) {
    return true;
  }
  const Region seen = stored_region(denoised_part(), options_.format, options_.display);
  const auto& part = shown_->refined_part;
  return part && seen.x >= part->x && seen.y >= part->y && seen.x + seen.width <= part->x + part->width &&
         seen.y + seen.height <= part->y + part->height;
}

std::string Viewer::result_label() const {
  ResultState state;
  state.is_live = is_live();
  state.is_late = Clock::now() - asked_at_ > kHintAfter && shown_->settings != player_->settings();
  state.view_is_final = view_is_final();
  state.has_line = state_.side == Side::kSplit;
  if (awaits_final()) {
    const double passed =
        std::chrono::duration<double>(Clock::now() - std::max(asked_at_, handed_at_)).count();
    state.final_in = std::max(refining_time_(player_->settings()) - passed, 0.0);
  }
  std::string label = app::result_label(*shown_, state);
  if (const LoopStatus loop = player_->loop_status(); loop.state == LoopStatus::State::kComputing) {
    label += fmt::format(" - loop: {:.0f} % computed", 100 * loop.share);
  }
  return label;
}

std::array<std::string, 2> Viewer::labels() const {
  const std::string result = result_label();
  switch (shown_side(*shown_, state_.side)) {
    case Side::kSplit:
    case Side::kSideBySide:
      return {"noisy", result};
    case Side::kPair:
      return {pair_label(0), pair_label(1)};
    case Side::kDenoised:
      return {result, ""};
    case Side::kDifference:
      return {!view_is_final() ? "difference: " + result
                               : fmt::format("difference x{:.3g}: {}", number("gain"), result),
              ""};
    case Side::kNoisy:
      break;
  }
  return {"noisy", ""};
}

Statistics Viewer::statistics() const {
  Statistics statistics = measurements_.statistics(*player_, *shown_);
  statistics.position = position();
  statistics.runs = is_playing();
  const double speed = player_->speed();
  statistics.state = player_->is_seeking()  ? "seeking"
                     : state_.ended         ? "end"
                     : player_->paused()    ? "paused"
                     : player_options_.live ? "live"
                     : speed != 1           ? fmt::format("playing x{:.2f}", speed)
                                            : "playing";
  if (const std::string recording = options_.recording ? options_.recording() : ""; !recording.empty()) {
    statistics.state += "   " + recording;
  }
  return statistics;
}

void Viewer::handle(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  switch (event.kind) {
    case Kind::kClose:
      state_.window_is_lost = event.is_lost;
      if (event.is_lost) {
        state_.quits = true;
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
      screen_.follow_size();
      break;
    case Kind::kWake:
      break;
  }
}

// Keys are for the question, an open list or a field, the list of files, or the table of keys.
void Viewer::handle_key(const io::WindowEvent& event) {
  screen_.redraw_controls();
  screen_.controls().hide_tooltip();
  io::ControlLayer& layer = screen_.layer();
  if (shown_ != nullptr && layer.has_events()) {
    while (layer.has_events()) {  // clicks that were made before
      draw();
    }
    draw();
  }
  if (state_.asks_to_quit) {
    for (const QuitAnswer& each : kQuitAnswers) {
      if (event.key == each.key) {
        return answer(each.name);
      }
    }
  } else if (layer.has_keyboard()) {
    layer.handle(event);
  } else if (!input_.list().is_open()) {
    press(event.key, event.repeats);
  } else if (const auto chosen = input_.list().press(event.key)) {
    open_file(chosen->string());
  }
}

// Events of the pointer are for the controls, or for the picture.
void Viewer::handle_pointer(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  if (event.kind == Kind::kPress) {
    mouse_.count(event);
    screen_.controls().hide_tooltip();
  }
  screen_.layer().handle(event);
  if (screen_.shows_controls()) {
    screen_.redraw_controls();
    if (event.kind == Kind::kPress && shown_ != nullptr) {
      draw();  // so that the controls find the item below the pointer
    }
  }
  const bool on_controls = state_.asks_to_quit || (screen_.layer().has_pointer() && !mouse_.holds_picture());
  if (event.kind != Kind::kLeave) {
    screen_.controls().notice_pointer(Clock::now(), on_controls);
  }
  if (event.kind == Kind::kRelease) {
    execute(mouse_.release(event, shown_ != nullptr));
  } else if (!on_controls) {
    execute(mouse_.handle(event));
  }
  if (state_.pixels) {
    screen_.redraw();
  }
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
  for (const KeyGroup& group : key_groups()) {
    const auto binding = std::ranges::find(group.keys, key == " " ? "SPACE" : key, &KeyBinding::key);
    if (binding == group.keys.end()) {
      continue;
    }
    if (!is_in_scope(group.scope)) {
      return notice(fmt::format("{}: {}", keys_text(group),
                                group.scope == Scope::kCamera ? "only for cameras"
                                : is_live()                   ? "not for cameras"
                                                              : "not for pictures"));
    }
    const std::string line(binding->line);
    const std::string verb = line.substr(0, line.find(' '));
    const WindowCommand* const command = find_window_command(verb);
    if (!repeats || verb == "add" || verb == "multiply" || (command != nullptr && command->repeats)) {
      execute(line);
    }
    return;
  }
}

void Viewer::execute(const std::string& line, std::uint64_t gesture) {
  if (line.empty()) {
    return;
  }
  gesture_ = gesture;
  const std::size_t space = line.find(' ');
  const std::string verb = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (const WindowCommand* const command = find_window_command(verb)) {
    return command->run(*this, rest);
  }
  const std::size_t end = rest.find(' ');
  const std::string operand = end == std::string::npos ? "" : rest.substr(end + 1);
  const Property* const property = find_property(rest.substr(0, end));
  if (property == nullptr) {
    throw Error("the window has no command: " + line);
  }
  const double now = property->get(*this);
  const std::vector<std::string> names =
      property->names ? property->names(*this) : std::vector<std::string>();
  const double number = parse_number(operand).value_or(0);
  const double step = property->range.step;
  const double base = step > 0 ? std::round(now / step) * step : now;
  if (verb == "add") {
    change_property(*property, base + number);
  } else if (verb == "multiply") {
    change_property(*property, now * number);
  } else if (verb != "set") {  // toggle, cycle
    const auto count = std::max(static_cast<double>(names.size()), 1.0);
    change_property(*property, std::fmod(now + (operand == "-1" ? count - 1 : 1) + count, count));
  } else if (const auto name = std::ranges::find(names, operand); name != names.end()) {
    change_property(*property, static_cast<double>(name - names.begin()));
  } else {
    change_property(*property, number);
  }
}

// Shows the new value, unless the change itself has shown a text.
void Viewer::change_property(const Property& property, double value) {
  const std::int64_t notices = notices_.count();
  const ValueRange& range = property.range;
  if (!property.names) {
    value = range.step > 0 ? std::round(value / range.step) * range.step : value;
    value = std::clamp(value, range.least, range.limit);
  }
  property.set(*this, value);
  screen_.redraw();
  if (notices_.count() == notices) {
    std::string title(property.name);
    std::ranges::replace(title, '-', ' ');
    notice(title + ": " + text(property.name));
  }
}

std::string Viewer::text(std::string_view name) const {
  const Property& property = *find_property(name);
  const double value = property.get(*this);
  if (!property.names) {
    return fmt::format("{:.{}f}{}", value, property.range.decimals, property.range.unit);
  }
  const std::vector<std::string> names = property.names(*this);
  return value >= 0 && value < static_cast<double>(names.size()) ? names[static_cast<std::size_t>(value)]
                                                                 : "";
}

}  // namespace limpid::app
