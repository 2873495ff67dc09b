// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
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
  std::map<std::string, double> shader_values;  ///< by the name of the property
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
  Placement place(io::Size window) const {
    if (zoom_ > 0) {
      const Span x = zoomed(picture_.width, window.width, zoom_, center_x_);
      const Span y = zoomed(picture_.height, window.height, zoom_, center_y_);
      return {{x.source, y.source, x.source_length, y.source_length},
              {x.target, y.target, x.target_length, y.target_length},
              false};
    }
    const double width = picture_.width * std::max(pixel_aspect_, 1.0);
    const double height = picture_.height * std::max(1 / pixel_aspect_, 1.0);
    const double scale = std::min(window.width / width, window.height / height);
    const int target_width = std::max(1, static_cast<int>(std::lround(width * scale)));
    const int target_height = std::max(1, static_cast<int>(std::lround(height * scale)));
    const bool whole = target_width % picture_.width == 0 && target_height % picture_.height == 0;
    return {
        {0, 0, picture_.width, picture_.height},
        {(window.width - target_width) / 2, (window.height - target_height) / 2, target_width, target_height},
        !whole};
  }

  /// The whole picture, as large as fits, at 0; else so many window pixels, both ways, to a pixel of the
  /// picture, whose aspect is then left alone: what is looked at is samples.
  int zoom() const { return zoom_; }
  /// Changes the zoom so that what is at (x, y) stays there.
  void set_zoom(int zoom, double x, double y, io::Size window) {
    const View::Point at = to_picture({x, y}, window);
    const double at_x = mirrored(at.x);
    const double at_y = at.y;
    zoom_ = zoom;
    if (zoom_ > 0) {
      center_x_ = at_x - (x - window.width / 2.0) / zoom_;
      center_y_ = at_y - (y - window.height / 2.0) / zoom_;
      keep_inside(window);
    }
  }
  /// The next zoom of 0, 1, 2, 4, 8 that shows the picture larger or smaller in this window.
  int next_zoom(bool greater, io::Size window) const {
    View whole = *this;
    whole.zoom_ = 0;
    const Placement fit = whole.place(window);
    const double fitting = static_cast<double>(fit.target.width) / fit.source.width;
    const int next = greater ? std::max(zoom_ * 2, 1) : zoom_ / 2;
    if (!greater) {
      return next > fitting ? next : 0;
    }
    int larger = std::min(next, kGreatestZoom);
    while (larger < kGreatestZoom && larger <= fitting) {
      larger *= 2;
    }
    return larger > fitting ? larger : zoom_;
  }
  /// Exchanges left and right. place() then has places in the mirrored picture.
  void mirror() {
    mirrored_ = !mirrored_;
    center_x_ = picture_.width - center_x_;
  }
  /// Moves the picture by so many window pixels.
  void pan(double dx, double dy, io::Size window) {
    if (zoom_ > 0) {
      center_x_ -= dx / zoom_;
      center_y_ -= dy / zoom_;
      keep_inside(window);
    }
  }

  /// Column of the picture at a column of the window, cut to 0 to its width.
  int picture_column(double x, io::Size window) const {
    return std::clamp(static_cast<int>(std::lround(to_picture({x, 0}, window).x)), 0, picture_.width);
  }
  struct Point {
    double x = 0;
    double y = 0;
  };
  /// The position in the picture at a position of the window, and the reverse.
  Point to_picture(Point at, io::Size window) const {
    const auto [source, target, smooth] = place(window);
    return {mirrored(source.x + (at.x - target.x) * source.width / target.width),
            source.y + (at.y - target.y) * source.height / target.height};
  }
  Point to_window(Point at, io::Size window) const {
    const auto [source, target, smooth] = place(window);
    return {target.x + (mirrored(at.x) - source.x) * target.width / source.width,
            target.y + (at.y - source.y) * target.height / source.height};
  }
  /// The pixels of the picture between two places of the window, as far as there are.
  io::Rectangle picture_part(double x0, double y0, double x1, double y1, io::Size window) const {
    const auto row_of = [&](double y) {
      return std::clamp(static_cast<int>(std::lround(to_picture({0, y}, window).y)), 0, picture_.height);
    };
    const auto [left, right] = std::minmax({picture_column(x0, window), picture_column(x1, window)});
    const auto [top, bottom] = std::minmax({row_of(y0), row_of(y1)});
    return {left, top, right - left, bottom - top};
  }

 private:
  /// Nothing black is beside a picture that is larger than the window.
  struct Span {
    int source;
    int source_length;
    int target;
    int target_length;
  };

  /// One direction of a zoomed picture, `center` of it in the middle of the window.
  static Span zoomed(int length, int window, int zoom, double center) {
    const bool fits = length * zoom <= window;
    const int origin =
        fits ? (window - length * zoom) / 2 : static_cast<int>(std::lround(window / 2.0 - center * zoom));
    const int first = std::clamp(-origin / zoom, 0, length);
    const int last = std::clamp((window - origin + zoom - 1) / zoom, 0, length);
    return {first, last - first, origin + first * zoom, (last - first) * zoom};
  }
  void keep_inside(io::Size window) {
    const auto limited = [this](double center, int length, int shown) {
      const double half = std::min(shown / 2.0 / zoom_, length / 2.0);
      return std::clamp(center, half, length - half);
    };
    center_x_ = limited(center_x_, picture_.width, window.width);
    center_y_ = limited(center_y_, picture_.height, window.height);
  }
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
  int column(int width) const {
    const int least = std::min(kLeastSide, width / 2);
    return std::clamp(static_cast<int>(std::lround(share_ * width)), least, width - least);
  }

  /// The pointer is at `x`. Its first position, and the first one after the window has changed, move nothing.
  /// Returns true if the line has moved.
  bool point(double x, int width) {
    if (!pointer_) {
      pointer_ = x;
      inner_ = share_;
      return false;
    }
    if (locked_ || std::abs(x - *pointer_) <= kStill) {
      return false;
    }
    pointer_ = x;
    move(x, width);
    return true;
  }
  /// The pointer has left: the line goes back to where it was before the pointer neared the border.
  void leave() {
    if (!locked_ && pointer_) {
      share_ = inner_;
    }
  }
  /// The window has another size, so the position of the pointer is unknown.
  void forget_pointer() { pointer_.reset(); }
  /// A button or a finger was pressed at `x` and has moved to `to`. Returns true if it drags the line, and
  /// not the picture.
  bool drag(double x, double to, int width, bool touch, bool picture_moves) {
    if (!holds_) {
      // A line that follows the pointer is always near it.
      holds_ = !picture_moves || ((touch || locked_) && std::abs(x - column(width)) <= kNear);
    }
    if (*holds_) {
      pointer_ = to;
      move(to, width);
    }
    return *holds_;
  }
  void release() { holds_.reset(); }

  bool locked() const { return locked_; }
  void set_locked(bool locked) { locked_ = locked; }
  /// Moves the line to the middle and locks it.
  void center() {
    share_ = inner_ = 0.5;
    locked_ = true;
  }

 private:
  // Pixels of the window: of either side that can always be seen, how near to the line it is meant, and by
  // how much a pointer that hasn't been moved may seem to move.
  static constexpr int kLeastSide = 12;
  static constexpr double kNear = 16;
  static constexpr double kStill = 2;
  // Share of the width at either side: a pointer there may be leaving the window.
  static constexpr double kBorder = 0.1;

  void move(double x, int width) {
    share_ = std::clamp(x / std::max(width, 1), 0.0, 1.0);
    if (share_ >= kBorder && share_ <= 1 - kBorder) {
      inner_ = share_;
    }
  }

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
  std::array<PlayerSettings, 2> both(const PlayerSettings& used) const {
    std::array<PlayerSettings, 2> both{used, other_.value_or(used)};
    if (second_) {
      std::swap(both[0], both[1]);
    }
    return both;
  }

  /// Uses the other settings, which are returned.
  PlayerSettings flip(const PlayerSettings& used) {
    PlayerSettings other = other_.value_or(used);
    other_ = used;
    second_ = !second_;
    return other;
  }
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
  std::optional<PlayerSettings> restore(const PlayerSettings& used) {
    if (second_ == choice_) {
      return std::nullopt;
    }
    requested_ = flip(used);
    return requested_;
  }
  struct Comparison {
    std::optional<PlayerSettings> next;  ///< settings to request
    bool has_result = false;             ///< the frame is a new result
  };
  /// The next step, given the shown frame.
  Comparison compare(const std::shared_ptr<const PlayedFrame>& shown, const PlayerSettings& used) {
    Comparison comparison;
    const std::size_t own = second_ ? 1 : 0;
    if (shown->settings == used) {
      if (result(own, shown->sequence, used) != shown) {
        keep(shown, used);
        comparison.has_result = true;
      }
      if (result(1 - own, shown->sequence, used) != nullptr && second_ == choice_) {
        return comparison;
      }
    } else if (requested_ == used) {
      return comparison;  // under way
    }
    comparison.next = requested_ = flip(used);
    return comparison;
  }

  /// Keeps a denoised frame as the result of its settings.
  void keep(const std::shared_ptr<const PlayedFrame>& frame, const PlayerSettings& used) {
    for (std::size_t which = 0; which < results_.size(); ++which) {
      if (frame->settings == used && both(used)[which] == used) {  // A and B may be equal
        results_[which] = frame;
      }
    }
  }
  /// The result of A (0) or B (1) for the frame of this number (PlayedFrame::sequence); null if there is none
  /// yet.
  std::shared_ptr<const PlayedFrame> result(std::size_t which, std::uint64_t sequence,
                                            const PlayerSettings& used) const {
    const std::shared_ptr<const PlayedFrame>& result = results_[which];
    const bool is_current =
        result != nullptr && result->sequence == sequence && result->settings == both(used)[which];
    return is_current ? result : nullptr;
  }

 private:
  std::optional<PlayerSettings> other_;
  bool second_ = false;
  std::array<std::shared_ptr<const PlayedFrame>, 2> results_;
  bool choice_ = false;                      ///< see choice()
  std::optional<PlayerSettings> requested_;  ///< the last ones
};

}  // namespace limpid::app
