// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/player/played_frame.h"
#include "io/screen/window.h"

namespace limpid::app {

enum class Side : std::uint8_t {
  kSplit,  ///< noisy left of a line, denoised right of it
  kNoisy,
  kDenoised,
  kDifference,
  kSideBySide,  ///< noisy in the left half of the window, denoised in the right one
  kPair,        ///< denoised with the settings A left of a line, with B right of it
};

/// Names of the sides, for the command line and in properties.
inline constexpr std::array<const char*, 6> kSideNames{"split",      "noisy", "denoised",
                                                       "difference", "side",  "pair"};

/// The state of a window beside its frame and zoom.
struct ViewState {
  Side side = Side::kSplit;
  double gain = 4;  ///< of the difference
  double volume = 1;
  bool muted = false;
  bool mirrored = false;  ///< left and right of both pictures are exchanged
  bool pixels = false;    ///< the values of the pixel below the pointer are shown
  Passage passage;
  bool loops = false;          ///< the passage, or the whole source, is repeated
  bool plays_passage = false;  ///< playback ends with the passage
  bool resumes = false;        ///< when the handle of the passage is released
  bool help = false;
  bool statistics = false;
  std::string hint;  ///< as long as it applies

  bool ended = false;           ///< the last frame is shown
  bool asks_to_quit = false;    ///< while a file is written
  bool quits = false;           ///< the window closes
  bool cancels_output = false;  ///< the file that is written is not finished
  bool window_is_lost = false;  ///< the window no longer exists
};

/// Which part of a picture is shown where in a window. Positions in the window are in its pixels.
class View {
 public:
  View(io::Size picture, double pixel_aspect) : picture_(picture), pixel_aspect_(pixel_aspect) {}

  static constexpr int kGreatestZoom = 8;

  io::Size picture() const { return picture_; }
  double pixel_aspect() const { return pixel_aspect_; }

  struct Placement {
    io::Rectangle source;  ///< of the picture
    io::Rectangle target;  ///< of the window
    bool smooth = false;
  };
  Placement place(io::Size window) const;

  /// The whole picture, as large as fits, at 0; else so many window pixels, both ways, to a pixel of the
  /// picture, whose aspect is then left alone: what is looked at is samples.
  int zoom() const { return zoom_; }
  /// Changes the zoom so that what is at (x, y) stays there.
  void set_zoom(int zoom, double x, double y, io::Size window);
  /// The next zoom of 0, 1, 2, 4, 8 that shows the picture larger or smaller in this window.
  int next_zoom(bool greater, io::Size window) const;
  /// Exchanges left and right. place() then has places in the mirrored picture.
  void mirror();
  /// Moves the picture by so many window pixels.
  void pan(double dx, double dy, io::Size window);

  /// Column of the picture at a column of the window, cut to 0 to its width.
  int picture_column(double x, io::Size window) const;
  struct Point {
    double x = 0;
    double y = 0;
  };
  /// The position in the picture at a position of the window, and the reverse.
  Point to_picture(Point at, io::Size window) const;
  Point to_window(Point at, io::Size window) const;
  /// The pixels of the picture between two places of the window, as far as there are.
  io::Rectangle picture_part(double x0, double y0, double x1, double y1, io::Size window) const;

 private:
  void keep_inside(io::Size window);
  double mirrored(double x) const { return mirrored_ ? picture_.width - x : x; }

  io::Size picture_;
  double pixel_aspect_;
  int zoom_ = 0;
  bool mirrored_ = false;
  // The position in the picture that is in the middle of the window when zoomed.
  double center_x_ = 0;
  double center_y_ = 0;
};

/// The line between noisy and denoised: it follows the pointer, unless it is locked, and can be dragged.
class SplitLine {
 public:
  /// `share`: of the window's width.
  explicit SplitLine(double share) : share_(share) {}

  double share() const { return share_; }
  /// The line's column in a window of this width, always so far inside that both sides are visible.
  int column(int width) const;

  /// The pointer is at `x`. Its first position, and the first one after the window has changed, move nothing.
  /// Returns true if the line has moved.
  bool point(double x, int width);
  /// The pointer has left: the line goes back to where it was before the pointer neared the border.
  void leave();
  /// The window has another size, so the position of the pointer is unknown.
  void forget_pointer() { pointer_.reset(); }
  /// A button or a finger was pressed at `x` and has moved to `to`. Returns true if it drags the line, and
  /// not the picture.
  bool drag(double x, double to, int width, bool touch, bool picture_moves);
  void release() { holds_.reset(); }

  bool locked() const { return locked_; }
  void set_locked(bool locked) { locked_ = locked; }
  /// Moves the line to the middle and locks it.
  void center();

 private:
  void move(double x, int width);

  double share_;
  double inner_ = 0.5;  // where it was last well within the window
  bool locked_ = false;
  std::optional<double> pointer_;
  std::optional<bool> holds_;  // while something is dragged: whether it is the line
};

/// Earlier and later settings, for undo and redo.
class SettingsHistory {
 public:
  /// Keeps settings that are to be replaced. All changes of one gesture, such as a drag, are one step.
  /// `gesture`: its number; 0 for a change that is a step of its own.
  void add(const PlayerSettings& before, std::uint64_t gesture) {
    later_.clear();
    if (gesture == 0 || std::exchange(gesture_, gesture) != gesture) {
      earlier_.push_back(before);
    }
    constexpr std::size_t kMost = 200;
    if (earlier_.size() > kMost) {
      earlier_.pop_front();
    }
  }
  /// The settings before the last step, or after the step that was undone last; nothing if there is none.
  std::optional<PlayerSettings> undo(const PlayerSettings& now) { return step(earlier_, later_, now); }
  std::optional<PlayerSettings> redo(const PlayerSettings& now) { return step(later_, earlier_, now); }

 private:
  using Steps = std::deque<PlayerSettings>;

  std::optional<PlayerSettings> step(Steps& from, Steps& to, const PlayerSettings& now) {
    if (from.empty()) {
      return std::nullopt;
    }
    to.push_back(now);
    PlayerSettings settings = std::move(from.back());
    from.pop_back();
    gesture_ = 0;
    return settings;
  }

  Steps earlier_;
  Steps later_;
  std::uint64_t gesture_ = 0;
};

/// The settings A and B of a window, of which one is in use, and their results for one frame.
class SettingsPair {
 public:
  /// True if B is in use.
  bool second() const { return second_; }
  /// True if there are two settings.
  bool is_complete() const { return other_.has_value(); }
  /// Both settings, A first, given those in use.
  std::array<PlayerSettings, 2> both(const PlayerSettings& used) const;

  /// Uses the other settings, which are returned.
  PlayerSettings flip(const PlayerSettings& used);
  /// Makes the other settings equal to those in use.
  void copy(const PlayerSettings& used) { other_ = used; }

  // The view of both: the player denoises the paused picture with A and with B, one after the other.

  /// Begins the view of both.
  void begin_comparison() {
    choice_ = second_;
    requested_.reset();  // frames with these settings may not come while paused
  }
  /// True if the user has chosen B; the comparison changes the settings in use.
  bool choice() const { return choice_; }
  void choose() { choice_ = second_; }
  /// The user has requested these settings.
  void note_request(const PlayerSettings& settings) { requested_ = settings; }
  /// The settings that the user has chosen, if those in use are the others.
  std::optional<PlayerSettings> restore(const PlayerSettings& used);
  struct Comparison {
    std::optional<PlayerSettings> next;  ///< settings to request
    bool has_result = false;             ///< the frame is a new result
    bool is_complete = false;            ///< both results exist
  };
  /// The next step, given the shown frame.
  Comparison compare(const std::shared_ptr<const PlayedFrame>& shown, const PlayerSettings& used);

  /// Keeps a denoised frame as the result of its settings.
  void keep(const std::shared_ptr<const PlayedFrame>& frame, const PlayerSettings& used);
  /// The result of A (0) or B (1) for the frame of this number (PlayedFrame::sequence); null if there is none
  /// yet.
  std::shared_ptr<const PlayedFrame> result(std::size_t which, std::uint64_t sequence,
                                            const PlayerSettings& used) const;

 private:
  std::optional<PlayerSettings> other_;
  bool second_ = false;
  std::array<std::shared_ptr<const PlayedFrame>, 2> results_;
  bool choice_ = false;                      ///< see choice()
  std::optional<PlayerSettings> requested_;  ///< the last ones
};

}  // namespace limpid::app
