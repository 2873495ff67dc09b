// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/player/camera_choice.h"
#include "app/player/control_items.h"
#include "app/player/file_list.h"
#include "app/player/passage.h"
#include "app/player/player_settings.h"
#include "app/player/view.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "io/media/microphone.h"
#include "io/media/reader.h"
#include "io/media/size.h"

namespace limpid::app {

/// The values that the controls show.
struct ControlState {
  double position = 0;  ///< seconds
  double duration = 0;  ///< 0 if not known
  bool live = false;
  bool still_picture = false;
  bool can_seek = false;
  bool paused = false;
  bool full_screen = false;
  double speed = 1;
  std::optional<double> volume;  ///< 0 to 1; nothing without audio
  bool muted = false;
  std::int64_t frame = 0;  ///< its number
  std::span<const io::Chapter> chapters;
  Passage passage;
  bool loops = false;  ///< the passage is repeated

  PlayerSettings settings;  ///< as the user asked for
  std::string used;         ///< filter of the frame that is shown, such as "recursive:profile=np"
  NoiseEstimate noise;      ///< of that frame, as estimated or given, without the strength
  std::string evidence;     ///< certainty or reason of the estimate, and the kind of the noise
  ColorModel color_model = ColorModel::kYuv;
  std::vector<std::string_view> planes;  ///< names of the color planes
  bool linked = true;                    ///< luma and chroma change together
  bool second_settings = false;          ///< B of the settings A and B is in use
  bool has_box = false;                  ///< the noise was measured in a box
  bool can_open = false;                 ///< the window can show other files
  std::vector<std::string> filters;

  Side side = Side::kSplit;
  bool swapped = false;
  bool mirrored = false;
  bool pixels = false;
  int zoom = 0;
  double gain = 4;          ///< of the difference
  bool loops_back = false;  ///< other programs receive a live source
  std::span<const CameraChoice> cameras;
  std::string camera;  ///< name of the one that is shown
  std::span<const io::Microphone> microphones;
  std::string microphone;            ///< device of the one in use
  std::optional<float> sound_level;  ///< 0 to 1
  std::string recording;             ///< of a live source: state of the recording
  std::optional<double> writing;     ///< progress of a file that is written, 0 to 1
  std::string written;               ///< its name
  bool asks_to_quit = false;         ///< while a file is written
};

/// An answer to the question before the window closes while a file is written.
enum class QuitAnswer : std::uint8_t { kFinish, kCancel, kBack };

/// A passage whose handles are dragged.
struct PassageRequest {
  Passage passage;
  double at = 0;          ///< time of the handle that is held
  bool is_final = false;  ///< it has been released
};

/// Requests that the user made with the pointer. Buttons have the effect of their keys.
struct ControlRequests {
  std::vector<std::string> keys;
  std::optional<double> seek;  ///< seconds
  std::optional<PassageRequest> passage;
  std::optional<double> speed;
  std::optional<double> volume;  ///< 0 to 1
  std::optional<double> gain;
  std::optional<int> zoom;
  std::optional<std::size_t> camera;      ///< of ControlState::cameras
  std::optional<std::size_t> microphone;  ///< of ControlState::microphones
  std::optional<PlayerSettings> settings;
  std::optional<QuitAnswer> quit;
};

/// The bar at the bottom of the window, which appears when the pointer moves and hides when it rests, and the
/// panel, which is open until it is closed. The open panel and the bar have their own space at the right side
/// and the bottom of the window. In narrow windows, further rows of the bar replace the panel.
class Controls {
 public:
  using Clock = std::chrono::steady_clock;

  /// `automatic`: the bar appears when the pointer moves; otherwise only with the panel.
  explicit Controls(bool automatic) : automatic_(automatic) {}

  /// The pointer has moved, or a button has been pressed. `holds`: it is on a control or holds one.
  void notice_pointer(Clock::time_point now, bool holds);
  /// Opens the panel, or closes it.
  void toggle_panel() { open_ = !open_; }
  bool is_open() const { return open_; }
  bool is_visible(Clock::time_point now) const { return open_ || now < visible_until_; }
  /// When a tooltip appears; nothing if there is none to come.
  std::optional<Clock::time_point> tooltip_at(Clock::time_point now) const {
    return is_visible(now) ? items_.tooltip_at() : std::nullopt;
  }
  /// When the bar hides or a tooltip appears; nothing if neither is to come.
  std::optional<Clock::time_point> changes_at(Clock::time_point now) const;
  /// The part of the window that is for pictures, from its left upper corner.
  io::Size stage(io::Size window, double scale) const;
  /// Height of the bar, in pixels.
  int bar_height(io::Size window, double scale) const;

  /// Draws them, between ControlLayer::begin() and end(), and returns what the user asked for.
  ControlRequests draw(const ControlState& state, io::Size window, double scale, Clock::time_point now);
  /// Draws a list of files, between draw() and end(). The chosen file.
  std::optional<std::filesystem::path> draw_files(FileList& files, io::Size window,
                                                  const FileList::TextOf& text_of);
  /// Ends the frame.
  void end() { items_.end(); }

 private:
  void draw_panel(const ControlState& state, io::Size window, ControlRequests& requests);
  void draw_question(const ControlState& state, io::Size window, ControlRequests& requests);
  int panel_width(io::Size window, double scale) const;
  /// Number of rows of the bar that replace the panel in narrow windows.
  int extra_rows(io::Size window, double scale) const;

  bool automatic_;
  bool open_ = false;
  bool shows_output_ = false;  ///< tab of the panel
  Clock::time_point visible_until_;
  ControlItems items_;
};

}  // namespace limpid::app
