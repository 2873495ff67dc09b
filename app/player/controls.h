// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
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
#include "io/media/size.h"

namespace limpid::app {

/// The values that the controls show.
struct ControlState {
  double position = 0;  ///< seconds
  double duration = 0;  ///< 0 if not known
  bool live = false;
  bool can_seek = false;
  bool paused = false;
  bool full_screen = false;
  double speed = 1;
  std::optional<double> volume;  ///< 0 to 1; nothing without audio
  Passage passage;

  PlayerSettings settings;  ///< as the user asked for
  std::string used;         ///< filter of the frame that is shown, such as "recursive:profile=np"
  NoiseModel level;         ///< of that frame
  ColorModel color_model = ColorModel::kYuv;
  std::vector<std::string_view> planes;  ///< names of the color planes
  bool linked = true;                    ///< luma and chroma change together
  bool second_settings = false;          ///< B of the settings A and B is in use
  bool has_box = false;                  ///< the noise was measured in a box
  bool can_open = false;                 ///< the window can show other files
  std::vector<std::string> filters;

  Side side = Side::kSplit;
  int zoom = 0;
  double gain = 4;          ///< of the difference
  bool loops_back = false;  ///< other programs receive a live source
  std::span<const CameraChoice> cameras;
  std::string camera;             ///< the one that is shown
  std::string recording;          ///< of a live source: state of the recording
  std::optional<double> writing;  ///< progress of a file that is written, 0 to 1
};

/// Requests that the user made with the pointer. Buttons have the effect of their keys.
struct ControlRequests {
  std::vector<std::string> keys;
  std::optional<double> seek;  ///< seconds
  std::optional<double> speed;
  std::optional<double> volume;  ///< 0 to 1
  std::optional<double> gain;
  std::optional<int> zoom;
  std::optional<std::size_t> camera;  ///< of ControlState::cameras
  std::optional<PlayerSettings> settings;
};

/// The bar at the bottom of the window and the panel at its right side, which appear when the pointer moves
/// and hide when it rests. In small windows, the panel appears only when asked for.
class Controls {
 public:
  using Clock = std::chrono::steady_clock;

  /// `automatic`: they appear when the pointer moves; otherwise only while pinned.
  explicit Controls(bool automatic) : automatic_(automatic) {}

  /// The pointer has moved, or a button has been pressed. `holds`: it is on a control or holds one.
  void notice_pointer(Clock::time_point now, bool holds);
  /// Keeps them on the screen, or lets them hide again.
  void toggle_pin() { pinned_ = !pinned_; }
  bool is_pinned() const { return pinned_; }
  bool is_visible(Clock::time_point now) const { return pinned_ || now < visible_until_; }
  /// When they hide; nothing if they are hidden or stay.
  std::optional<Clock::time_point> hides_at(Clock::time_point now) const;
  /// Height of the bar, in pixels.
  static int bar_height(double scale);
  /// Left edge of the panel in a window of `width` pixels.
  static int panel_left(int width, double scale);

  /// Draws them, between ControlLayer::begin() and end(), and returns what the user asked for.
  ControlRequests draw(const ControlState& state, io::Size window, double scale, Clock::time_point now);
  /// Draws a list of files, between draw() and end(). The chosen file.
  std::optional<std::filesystem::path> draw_files(FileList& files, io::Size window,
                                                  const FileList::DrawText& draw_text);
  /// Ends the frame.
  void end() { items_.end(); }

 private:
  void draw_panel(const ControlState& state, io::Size window, ControlRequests& requests);

  bool automatic_;
  bool pinned_ = false;
  Clock::time_point visible_until_;
  ControlItems items_;
};

}  // namespace limpid::app
