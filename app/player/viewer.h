// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/player/background_write.h"
#include "app/player/camera_choice.h"
#include "app/player/controls.h"
#include "app/player/file_list.h"
#include "app/player/noise_box.h"
#include "app/player/osd.h"
#include "app/player/passage.h"
#include "app/player/playback_rates.h"
#include "app/player/player.h"
#include "app/player/settings_editor.h"
#include "app/player/view.h"
#include "app/player/view_state.h"
#include "app/player/viewer_report.h"
#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "core/frame/frame.h"
#include "core/settings/denoising_settings.h"
#include "io/screen/audio_output.h"
#include "io/screen/control_layer.h"
#include "io/screen/display.h"
#include "io/screen/picture_painter.h"
#include "io/screen/window.h"

namespace limpid::app {

struct ViewerOptions {
  std::string source;  ///< what to call it
  FrameFormat format;
  io::DisplayProperties display;
  std::string engine;
  double duration = 0;     ///< seconds; 0 if not known
  bool keep_open = false;  ///< stay at the last frame
  bool loop = false;
  bool still_picture = false;
  std::int64_t frames = 0;  ///< quit when so many have been shown; 0: no limit
  /// File for a picture of the window with the last of `frames`. No frame is dropped then.
  std::string screenshot;
  bool overwrite = false;            ///< replace an existing file of that name
  std::string picture_folder = ".";  ///< where the keys put pictures
  bool overlay = true;               ///< labels, hints and controls appear by themselves
  bool controls = false;             ///< controls stay on the screen from the start
  bool statistics = false;           ///< statistics are shown from the start
  Side side = Side::kSplit;
  int zoom = 0;
  double split = 0.5;  ///< of the window's width, until the pointer moves
  io::WindowOptions window;
  std::string notice;                       ///< shown with the first frame
  std::shared_ptr<io::Window> open_window;  ///< that is used instead of a new one, with its size
  double text_size = 1;                     ///< factor of the size that suits the screen and the window
  std::vector<std::string> filters;         ///< to choose from with a key
  bool keep_times = false;                  ///< of every frame shown, for the report
  /// What is being recorded, in a few words for the statistics; called now and then. May be empty, and so may
  /// the words.
  std::function<std::string()> recording;
  /// Begins a recording or ends it, and returns a few words on that. Empty if nothing can be recorded.
  std::function<std::string()> toggle_recording;
  /// Switches the loopback device on or off, and returns a few words on that. Empty for files.
  std::function<std::string()> toggle_loopback;
  /// True while other programs receive the frames. Empty for files.
  std::function<bool()> loops_back;
  std::vector<CameraChoice> cameras;  ///< that the window can show instead
  /// Returns messages that no key requested; called regularly. May be empty, and so may the text.
  std::function<News()> news;
  /// Called regularly if there is no display: once it returns false, run() ends. May be empty.
  std::function<bool()> is_needed;
  /// The words of the command line that denoises the source with these settings, from "limpid" on, without
  /// its output. Empty if there is none, as for a camera.
  std::function<std::vector<std::string>(const PlayerSettings&, const Passage&)> command;
  std::string input;  ///< path of the source, for the names of files written
  /// Returns why the window cannot show a file; empty if it can. Empty for a camera.
  std::function<std::string(const std::string& path)> refuse_file;
  FieldChoice fields = FieldChoice::kAuto;  ///< for settings files
  std::string program = "/proc/self/exe";   ///< runs `command`
  /// Throws UsageError if the settings aren't possible. May be empty.
  std::function<void(const PlayerSettings&)> check;
};

/// The window on a Player, for the thread that it is made on: what is shown, and what the keys and the mouse
/// do.
class Viewer {
 public:
  /// Opens the window, unless one is open. `stages` does not need wake, which is the viewer's.
  Viewer(ViewerOptions options, PlayerStages stages, PlayerOptions player_options);
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  Viewer(Viewer&&) = delete;
  Viewer& operator=(Viewer&&) = delete;
  ~Viewer();

  /// Plays along with the video from now on. May be empty.
  void set_audio(std::unique_ptr<io::AudioOutput> audio) { audio_ = std::move(audio); }

  /// Until the user quits, the source has ended or a stop is requested. Throws what a stage has thrown.
  void run(const std::stop_token& stop);

  /// After run(), as Player has them: ends playing, without the frames under way; or ends reading and lets
  /// the frames under way through PlayerStages::denoised, and throws what a stage has thrown.
  bool stop(std::chrono::milliseconds patience) { return player_->stop(patience); }
  void finish() { player_->finish(); }

  /// The statistics, once a frame has been shown; for the viewer's own thread.
  Statistics statistics() const;
  const ViewerReport& report() const { return report_; }
  /// The window, for the viewer of the next source.
  const std::shared_ptr<io::Window>& window() const { return window_; }
  /// The command line that denoises the source as it is set now; empty if there is none.
  std::string command_line() const;
  /// The settings that the user has chosen.
  DenoisingSettings settings() const;
  PlayerSettings chosen() const { return player_->settings(); }
  /// The file to show next, after run(); empty if there is none.
  const std::string& next_input() const { return next_input_; }
  /// The camera to show next, after run(); nothing if there is none.
  const std::optional<CameraChoice>& next_camera() const { return next_camera_; }
  /// For the viewer's own thread.
  const ViewState& state() const { return state_; }
  const PlayerCounters& counters() const { return player_->counters(); }

 private:
  friend struct ViewerKeys;
  using Clock = Player::Clock;

  void keep_results_on_gpu(PlayerStages& stages);
  void show_taken(const Player::Taken& taken);
  void follow(Clock::time_point now);
  void finish_showing(bool is_interrupted);
  void take_screenshot();
  void show(const std::shared_ptr<const PlayedFrame>& frame);
  void hand_to_screen(const std::shared_ptr<const PlayedFrame>& frame);
  /// The shown side: a frame that is not denoised yet is shown noisy.
  Side shown_side() const { return shown_->is_waiting ? Side::kNoisy : state_.side; }
  bool awaits_refinement() const;
  /// Seconds, of the shown frame or of the target of a seek.
  double position() const { return player_->is_seeking() ? player_->position() : shown_->time; }
  bool has_line() const { return state_.side == Side::kSplit || state_.side == Side::kPair; }
  void handle_end();
  void handle(const io::WindowEvent& event);
  void handle_key(const io::WindowEvent& event);
  void handle_pointer(const io::WindowEvent& event);
  void handle_drag(const io::WindowEvent& event);
  void handle_release(const io::WindowEvent& event);
  void press(const std::string& key, bool repeats = false);
  void close_top();
  void ask_to_quit();
  void answer(QuitAnswer answer);
  void change_side(Side side);
  void change_speed(double speed);
  /// Applies settings, and keeps those before for undo. `gesture`: as SettingsHistory::add() takes it.
  void change_settings(const PlayerSettings& settings, const std::string& text, std::uint64_t gesture = 0);
  /// False if the settings aren't possible.
  bool apply_settings(PlayerSettings settings, const std::string& text);
  void take_noise_of_box();
  void propose_box();
  void draw_box();
  bool grab_box(const io::WindowEvent& event);
  View::Point in_picture(const io::WindowEvent& event) const;
  io::Size picture_size() const { return {converter_.width(), converter_.height()}; }
  void flip_settings();
  void copy_settings();
  void change_gain(double gain);
  void change_volume(double volume);
  void mark_passage(std::optional<double>& end, double time);
  void copy_command();
  void save_settings();
  void save_noise();
  void save_json(const std::string& path, const std::string& text);
  void load_json(const std::string& path);
  void list_files(bool profiles);
  void open_file(const std::string& path);
  std::string stem_of_files() const;
  void show_pair();
  void restore_pair();
  void show_camera(std::size_t number);
  void show_next_camera();
  void follow_pair();
  void start_writing();
  void cancel_writing();
  void follow_writing();
  void settle_writing(bool is_interrupted);
  void change_zoom(int zoom, double x, double y);
  void save_pictures();
  void save_window();
  void save(void (Viewer::*pictures)());
  void save_awaited();
  void notice(const std::string& text);
  void tell_news();

  void upload_pictures();
  void draw();
  void draw_opening();
  void draw_picture();
  void draw_controls();
  void grant(const ControlRequests& requests);
  ControlState control_state() const;
  /// Size of the area of the pictures, beside the open panel, and of the area that one picture has.
  io::Size stage() const { return panel_.stage(window_->size(), scale()); }
  io::Size picture_area() const;
  double scale() const { return window_->scale() * options_.text_size; }
  void follow_visibility(Clock::time_point now);
  void draw_text(Clock::time_point now);
  void draw_labels(int split);
  std::array<std::string, 2> pair_labels() const;
  /// Row of the window below which the controls are.
  int bottom_of_pictures() const;
  std::string noise_remark() const;
  /// True if there is a frame, or a hint that explains why there is none.
  bool can_draw() const { return shown_ != nullptr || !state_.hint.empty(); }
  void measure(Clock::time_point now);
  void follow_audio();
  void seek_audio(double time);
  void wait_until(std::optional<Clock::time_point> next, const std::stop_token& stop);
  int text_line() const;
  void toggle_pause();
  void seek_to(double seconds);
  void hint(Clock::time_point now);
  std::string standing_hint(Clock::time_point now) const;
  /// The advice for a denoiser that is too slow.
  std::string pace_hint() const;
  std::string noise_hint() const;
  std::string slowness_hint() const;
  /// True if the shown frame lacks settings that were requested some time ago.
  bool is_late(Clock::time_point now) const;

  ViewerOptions options_;
  const PlayerOptions player_options_;
  // Options' function for a lost display may refer to what no longer exists after the viewer.
  class LossScope {
   public:
    explicit LossScope(io::Window& window) : window_(window) {}
    LossScope(const LossScope&) = delete;
    LossScope& operator=(const LossScope&) = delete;
    LossScope(LossScope&&) = delete;
    LossScope& operator=(LossScope&&) = delete;
    ~LossScope() { window_.set_display_lost({}); }

   private:
    io::Window& window_;
  };

  const std::shared_ptr<io::Window> window_;
  const LossScope forgets_loss_;
  io::DisplayConverter converter_;  ///< for pictures in files
  io::PicturePainter painter_;
  io::ControlLayer controls_;
  Controls panel_;
  bool panel_was_visible_ = false;
  int settling_ = 0;           ///< frames of controls to be drawn until an event shows
  bool was_pressed_ = false;   ///< a button, since the viewer began
  bool on_picture_ = false;    ///< the button that is held was pressed on the picture
  double dragged_ = 0;         ///< pixels that the pointer has moved since
  std::uint64_t gesture_ = 1;  ///< counts presses, of which a double click is one
  View view_;
  ViewState state_;
  SplitLine split_;
  io::Size window_size_;
  double pointer_x_ = 0;
  double pointer_y_ = 0;

  std::optional<NoiseBox> box_;
  std::optional<NoiseProfile> box_noise_;  ///< measured there
  double pressed_at_ = 0;                  ///< left edge of the picture on which a button was pressed
  std::optional<View::Point> marking_;     ///< where the right button was pressed, in pixels of the window
  std::shared_ptr<Engine> engine_;         ///< denoises, and measures the noise in the box

  SettingsEditor editor_;
  bool pair_choice_ = false;                  ///< B was in use when the view of both began
  std::optional<PlayerSettings> pair_asked_;  ///< settings last requested for the comparison of A and B
  FileList files_;
  std::string next_input_;
  std::optional<CameraChoice> next_camera_;
  std::unique_ptr<BackgroundWrite> writing_;
  std::string written_;  ///< the file that is written
  bool cancels_writing_ = false;
  bool is_lost_ = false;  ///< the window no longer exists

  std::shared_ptr<const PlayedFrame> shown_;
  Frame before_;                       ///< the frame that was shown before, as it was decoded,
  std::uint64_t before_sequence_ = 0;  ///< and its PlayedFrame::sequence
  bool noisy_uploaded_ = false;        ///< of `shown_`
  bool denoised_uploaded_ = false;
  bool redraw_ = true;
  bool quit_ = false;
  bool ended_ = false;

  std::vector<std::string> early_keys_;  ///< pressed before there was a frame
  Clock::time_point asked_at_;           ///< when the user last requested another frame or other settings
  Clock::time_point handed_at_;          ///< when the frame that is shown was taken
  std::string notice_;
  Clock::time_point notice_until_;
  std::vector<void (Viewer::*)()> saves_;  ///< to be done when the frame that is shown is refined
  std::optional<PlayerSettings> awaited_;  ///< settings that no frame has been shown with yet

  PlaybackRates rates_;
  double latency_ = 0;
  StageCounters presenting_;
  ViewerReport report_;

  std::unique_ptr<io::AudioOutput> audio_;
  double audio_begins_at_ = 0;      ///< start time last sent to the audio output, in seconds
  bool audio_waits_ = true;         ///< for the first picture, or the first one after a seek
  std::unique_ptr<Player> player_;  ///< last, as its threads use the rest
};

}  // namespace limpid::app
