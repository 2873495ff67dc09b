// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/console/text.h"
#include "app/player/controls.h"
#include "app/player/measurements.h"
#include "app/player/noise_area.h"
#include "app/player/osd.h"
#include "app/player/player.h"
#include "app/player/player_screen.h"
#include "app/player/view.h"
#include "app/player/viewer_options.h"
#include "app/player/window_files.h"
#include "core/base/not_copyable.h"
#include "core/settings/denoising_settings.h"
#include "io/screen/audio_output.h"

namespace limpid::app {

/// The audio beside the picture: it begins with the first picture, and with the first one after a seek. Does
/// nothing without audio.
class AudioSync {
 public:
  void set(std::unique_ptr<io::AudioOutput> audio) { audio_ = std::move(audio); }
  bool exists() const { return audio_ != nullptr; }

  /// Goes to a time, in seconds.
  void seek(double time) {
    if (audio_ != nullptr) {
      audio_->seek(time);
    }
    begins_at_ = time;
  }
  /// Goes to a time, and waits there for the picture.
  void seek_with_picture(double time) {
    seek(time);
    waits_ = true;
  }
  /// The picture of that time is shown.
  void begin(double time) {
    waits_ = false;
    // The source may begin anywhere, and a seek goes to a frame.
    if (constexpr double kNotHeard = 0.02; std::abs(time - begins_at_) > kNotHeard) {
      seek(time);
    }
  }
  /// Plays or pauses. Returns the position if it is heard.
  std::optional<double> play(bool plays) {
    if (audio_ == nullptr) {
      return std::nullopt;
    }
    audio_->set_playing(plays && !waits_);
    return plays && !waits_ ? audio_->position() : std::nullopt;
  }
  std::optional<double> position() const { return audio_ != nullptr ? audio_->position() : std::nullopt; }
  void set_volume(double volume) { audio_->set_volume(volume); }
  /// Plays at another speed from `time` on.
  void set_speed(double speed, double time) {
    if (audio_ != nullptr && io::AudioOutput::is_speed(speed)) {
      audio_->set_speed(speed);
      seek(time);
    }
  }
  /// Why there is no more audio, once; empty while there is.
  std::string take_failure() {
    std::string failure = audio_ != nullptr ? audio_->failure() : "";
    if (!failure.empty()) {
      audio_.reset();
    }
    return failure;
  }

 private:
  std::unique_ptr<io::AudioOutput> audio_;
  double begins_at_ = 0;  ///< the last target
  bool waits_ = true;
};

/// The window on a Player. Its state is read and changed by properties and commands (properties.h); panels
/// and the screen read it, and request lines that are executed after the drawing. Belongs to the thread that
/// it is made on.
class Viewer : NotCopyable {
 public:
  using Clock = Player::Clock;

  /// Opens the window, unless one is open. `stages` does not need wake, which is the viewer's.
  Viewer(ViewerOptions options, PlayerStages stages, PlayerOptions player_options);
  ~Viewer();

  /// Plays along with the video from now on. May be empty.
  void set_audio(std::unique_ptr<io::AudioOutput> audio) { audio_.set(std::move(audio)); }

  /// Until the user quits, the source has ended or a stop is requested. Throws what a stage has thrown.
  void run(const std::stop_token& stop);
  /// Shows what is due, and handles events until more is due, but for a limited time. False once the window
  /// is to close.
  bool step(const std::stop_token& stop, std::chrono::milliseconds most = PlaybackRates::kInterval);

  /// After run(), as Player has them: ends playing, without the frames under way; or ends reading and lets
  /// the frames under way through PlayerStages::denoised, and throws what a stage has thrown.
  bool stop(std::chrono::milliseconds patience) { return player_->stop(patience); }
  void finish() { player_->finish(); }

  /// Executes a line: a command with its argument, or "set NAME VALUE", "add NAME NUMBER", "multiply NAME
  /// NUMBER", "toggle NAME" or "cycle NAME [-1]" with a property. Changes of settings in one gesture are one
  /// step of undo.
  void execute(const std::string& line, std::uint64_t gesture = 0);
  /// Executes a line after the drawing.
  void request(std::string line) { requests_.push_back(std::move(line)); }
  /// The value of a property, and as it is shown.
  double number(std::string_view name) const { return find_property(name)->get(*this); }
  std::string text(std::string_view name) const;
  void handle(const io::WindowEvent& event);

  const ViewerOptions& options() const { return options_; }
  bool is_live() const { return player_options_.live; }
  bool is_in_scope(Scope scope) const { return app::is_in_scope(scope, is_live(), options_.still_picture); }
  const ViewState& state() const { return state_; }
  const Player& player() const { return *player_; }
  const PlayerScreen& screen() const { return screen_; }
  const Controls& controls() const { return screen_.controls(); }
  const NoiseArea& area() const { return area_; }
  const FileOutput& output() const { return output_; }
  bool lists_files() const { return input_.list().is_open(); }
  const std::string& notice_text() const { return notices_.text(); }
  bool has_audio() const { return audio_.exists(); }
  const std::vector<CameraChoice>& cameras() const { return cameras_; }
  /// Null before the first frame.
  const PlayedFramePointer& shown() const { return shown_; }
  /// Its result with the settings A (0) or B (1), if the pair is shown; null if there is none yet.
  PlayedFramePointer pair_result(std::size_t which) const {
    return pair_.result(which, shown_->sequence, player_->settings());
  }
  /// The settings that the panel shows.
  PlayerSettings panel_settings() const {
    return state_.side == Side::kPair ? pair_.both(player_->settings())[pair_.choice() ? 1 : 0]
                                      : player_->settings();
  }
  /// The labels of the pictures, as the view has one or two.
  std::array<std::string, 2> labels() const;
  /// True if the shown picture is to be replaced by the result of `limpid denoise` while the window is
  /// paused.
  bool awaits_final() const {
    return !is_live() && (player_->paused() || state_.ended) && player_->will_refine();
  }
  /// True unless the denoised pictures that are seen are a draft while the window is paused.
  bool view_is_final() const;
  /// Seconds, of the shown frame or of the target of a seek.
  double position() const { return player_->is_seeking() ? player_->position() : shown_->time; }
  /// Values of the pixel below the pointer.
  std::string pixel_text() const { return pixels_.text(*shown_, mouse_.pixel()); }
  /// The statistics, once a frame has been shown.
  Statistics statistics() const;
  const ViewerReport& report() const { return measurements_.report(); }
  /// The window, for the viewer of the next source.
  const std::shared_ptr<io::Window>& window() const { return screen_.shared_window(); }
  /// The command line that denoises the source as it is set now; empty if there is none.
  std::string command_line() const { return output_.command_line(player_->settings(), state_.passage); }
  /// The settings that the user has chosen.
  DenoisingSettings settings() const {
    const PlayerSettings& settings = player_->settings();
    return {filter_settings(settings), settings.noise, options_.fields};
  }
  const PlayerSettings& chosen() const { return player_->settings(); }
  /// The file to show next, after run(); empty if there is none.
  const std::string& next_input() const { return input_.next(); }
  /// The camera to show next, after run(); nothing if there is none.
  const std::optional<CameraChoice>& next_camera() const { return next_camera_; }
  const PlayerCounters& counters() const { return player_->counters(); }

 private:
  friend struct ViewerTables;

  void keep_results_on_gpu(PlayerStages& stages);

  // The loop.
  void show_taken(const Player::Taken& taken);
  void show(const PlayedFramePointer& frame);
  void hand_to_screen(const PlayedFramePointer& frame);
  void follow(Clock::time_point now);
  void follow_audio();
  void follow_pair();
  void follow_loop();
  void follow_camera();
  void hint(Clock::time_point now);
  std::string standing_hint(Clock::time_point now) const;
  void draw_if_needed();
  void draw();
  void wait_until(std::optional<Clock::time_point> next, Clock::time_point until,
                  const std::stop_token& stop);
  void handle_end();
  void finish_showing(bool is_interrupted);
  void take_screenshot();
  void save_awaited() {
    for (const std::function<void()>& save : std::exchange(saves_, {})) {
      save();
    }
  }
  bool awaits_refinement() const {
    return !options_.screenshot.empty() && report().shown >= options_.frames && player_->will_refine();
  }
  io::Rectangle denoised_part() const;
  std::optional<Region> first_part() const;
  std::string result_label() const;
  std::string pair_label(std::size_t which) const {
    return fmt::format(
        "{}: {}", which == 0 ? "A" : "B",
        pair_result(which) != nullptr ? settings_text(pair_.both(player_->settings())[which]) : "computing");
  }
  /// True if playback is limited to the passage.
  bool is_bounded() const { return state_.loops || state_.plays_passage; }
  bool is_playing() const { return !player_->paused() && !state_.ended; }

  // Events.
  void handle_key(const io::WindowEvent& event);
  void handle_pointer(const io::WindowEvent& event);
  void press(const std::string& key, bool repeats);
  void change_property(const Property& property, double value);
  void notice(const std::string& text) {
    notices_.show(text, Clock::now());
    screen_.redraw();
  }

  // Actions.
  void close_top();
  void ask_to_quit();
  void answer(const std::string& answer) {
    state_.asks_to_quit = false;
    screen_.redraw();
    state_.quits = answer != "back";
    state_.cancels_output = answer == "cancel";
  }
  void set_paused(bool paused);
  /// Goes to a time within the passage that is played. False, with a notice, if the source can't.
  bool go_to(double seconds);
  void seek_to(double seconds) {
    if (go_to(seconds)) {
      notice(time_text(player_->position(), false));
    }
  }
  void step_frames(bool forward);
  void go_to_chapter(int step);
  void change_side(Side side) {
    // The side that is shown, chosen again, goes back to the split view.
    state_.side = side == state_.side ? Side::kSplit : side;
    screen_.forget_pictures();
  }
  void change_zoom(int zoom, View::Point at) {
    screen_.view().set_zoom(zoom, at.x, at.y, screen_.picture_area(state_.side));
  }
  /// Applies settings, and keeps those before for undo.
  // Changes of one gesture are undone together.
  void change_settings(const PlayerSettings& settings, const std::string& text = "") {
    const PlayerSettings before = player_->settings();
    if (apply_settings(settings, text) && before != player_->settings()) {
      history_[pair_.second() ? 1 : 0].add(before, gesture_);
    }
  }
  /// False if the settings aren't possible.
  bool apply_settings(PlayerSettings settings, const std::string& text);
  void request_settings(const PlayerSettings& settings) {
    awaited_ = settings;
    asked_at_ = Clock::now();
    player_->set_settings(settings);
  }
  void undo(bool again);
  void take_noise_of_box();
  void propose_box();
  void flip_settings() {
    const PlayerSettings other = pair_.flip(player_->settings());
    pair_.choose();
    apply_settings(other, fmt::format("settings {}: {}", pair_.second() ? "B" : "A", settings_text(other)));
  }
  void show_pair();
  void restore_pair();
  void show_camera(std::size_t number) {
    next_camera_ = cameras_[number];
    state_.quits = true;
    notice("camera: " + next_camera_->name);
  }
  void show_next_camera();
  /// The camera is opened again, as both are one source.
  void use_microphone(const std::string& device) {
    next_camera_ = CameraChoice{
        .name = options_.source, .node = "", .format = "", .size = "", .fps = "", .microphone = device};
    state_.quits = true;
    notice("microphone: " + device);
  }
  void mark_passage(std::optional<double>& end, double time);
  void show_whole();
  void set_loop(bool loops);
  void step_loop();
  /// Begins to play the passage at `target` if it is repeated, and ends that otherwise.
  void use_passage(double target) {
    player_->set_passage(is_bounded() ? std::optional(state_.passage) : std::nullopt, state_.loops);
    go_to(target);
  }
  void drag_passage(const std::string& argument);
  void release_passage();
  void copy_command();
  void show_files(bool profiles) {
    state_.help = false;
    input_.show_list(profiles);
  }
  void open_file(const std::string& path);
  void save(const std::function<void()>& pictures);

  const ViewerOptions options_;
  const PlayerOptions player_options_;
  const std::function<double(const PlayerSettings&)> refining_time_;  ///< in seconds; 0 if not known
  ViewState state_;
  Notices notices_;
  PlayerScreen screen_;
  LoopStatus::State loop_state_ = LoopStatus::State::kNone;  ///< as shown
  NoiseArea area_;
  PictureMouse mouse_;
  mutable PixelValues pixels_;
  SettingsPair pair_;
  std::array<SettingsHistory, 2> history_;  ///< of A and B
  std::uint64_t gesture_ = 0;               ///< of the line that is executed
  FileInput input_;
  FileOutput output_;
  Measurements measurements_;
  AudioSync audio_;
  std::vector<CameraChoice> cameras_;
  std::string trouble_;  ///< as shown
  std::optional<CameraChoice> next_camera_;

  PlayedFramePointer shown_;
  std::vector<std::string> requests_;          ///< lines to be executed after the drawing
  std::vector<std::string> early_keys_;        ///< pressed before there was a frame
  std::vector<std::function<void()>> saves_;   ///< to be done when the shown frame is refined
  std::optional<PlayerSettings> awaited_;      ///< settings that no frame has been shown with yet
  Clock::time_point asked_at_ = Clock::now();  ///< when the user last requested a frame or settings
  Clock::time_point handed_at_;                ///< when the shown frame was taken
  std::unique_ptr<Player> player_;             ///< last, as its threads use the rest
};

}  // namespace limpid::app
