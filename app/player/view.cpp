// SPDX-License-Identifier: MIT

#include "app/player/view.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limpid::app {
namespace {

struct Span {
  int source;
  int source_length;
  int target;
  int target_length;
};

// One direction of a zoomed picture, `center` of it in the middle of the window.
Span zoomed(int length, int window, int zoom, double center) {
  const bool fits = length * zoom <= window;
  const int origin =
      fits ? (window - length * zoom) / 2 : static_cast<int>(std::lround(window / 2.0 - center * zoom));
  const int first = std::clamp(-origin / zoom, 0, length);
  const int last = std::clamp((window - origin + zoom - 1) / zoom, 0, length);
  return {first, last - first, origin + first * zoom, (last - first) * zoom};
}

}  // namespace

View::Placement View::place(io::Size window) const {
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

void View::set_zoom(int zoom, double x, double y, io::Size window) {
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

int View::next_zoom(bool greater, io::Size window) const {
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

void View::mirror() {
  mirrored_ = !mirrored_;
  center_x_ = picture_.width - center_x_;
}

void View::pan(double dx, double dy, io::Size window) {
  if (zoom_ > 0) {
    center_x_ -= dx / zoom_;
    center_y_ -= dy / zoom_;
    keep_inside(window);
  }
}

// Nothing black is beside a picture that is larger than the window.
void View::keep_inside(io::Size window) {
  const auto limited = [this](double center, int length, int shown) {
    const double half = std::min(shown / 2.0 / zoom_, length / 2.0);
    return std::clamp(center, half, length - half);
  };
  center_x_ = limited(center_x_, picture_.width, window.width);
  center_y_ = limited(center_y_, picture_.height, window.height);
}

int View::picture_column(double x, io::Size window) const {
  return std::clamp(static_cast<int>(std::lround(to_picture({x, 0}, window).x)), 0, picture_.width);
}

View::Point View::to_picture(Point at, io::Size window) const {
  const auto [source, target, smooth] = place(window);
  return {mirrored(source.x + (at.x - target.x) * source.width / target.width),
          source.y + (at.y - target.y) * source.height / target.height};
}

View::Point View::to_window(Point at, io::Size window) const {
  const auto [source, target, smooth] = place(window);
  return {target.x + (mirrored(at.x) - source.x) * target.width / source.width,
          target.y + (at.y - source.y) * target.height / source.height};
}

io::Rectangle View::picture_part(double x0, double y0, double x1, double y1, io::Size window) const {
  const auto row_of = [&](double y) {
    return std::clamp(static_cast<int>(std::lround(to_picture({0, y}, window).y)), 0, picture_.height);
  };
  const auto [left, right] = std::minmax({picture_column(x0, window), picture_column(x1, window)});
  const auto [top, bottom] = std::minmax({row_of(y0), row_of(y1)});
  return {left, top, right - left, bottom - top};
}

namespace {

// Pixels of the window: of either side that can always be seen, how near to the line it is meant, and by how
// much a pointer that hasn't been moved may seem to move.
constexpr int kLeastSide = 12;
constexpr double kNear = 16;
constexpr double kStill = 2;
// Share of the width at either side: a pointer there may be leaving the window.
constexpr double kBorder = 0.1;

}  // namespace

int SplitLine::column(int width) const {
  const int least = std::min(kLeastSide, width / 2);
  return std::clamp(static_cast<int>(std::lround(share_ * width)), least, width - least);
}

void SplitLine::move(double x, int width) {
  share_ = std::clamp(x / std::max(width, 1), 0.0, 1.0);
  if (share_ >= kBorder && share_ <= 1 - kBorder) {
    inner_ = share_;
  }
}

bool SplitLine::point(double x, int width) {
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

void SplitLine::leave() {
  if (!locked_ && pointer_) {
    share_ = inner_;
  }
}

bool SplitLine::drag(double x, double to, int width, bool touch, bool picture_moves) {
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

void SplitLine::center() {
  share_ = inner_ = 0.5;
  locked_ = true;
}

std::array<PlayerSettings, 2> SettingsPair::both(const PlayerSettings& used) const {
  std::array<PlayerSettings, 2> both{used, other_.value_or(used)};
  if (second_) {
    std::swap(both[0], both[1]);
  }
  return both;
}

PlayerSettings SettingsPair::flip(const PlayerSettings& used) {
  PlayerSettings other = other_.value_or(used);
  other_ = used;
  second_ = !second_;
  return other;
}

std::optional<PlayerSettings> SettingsPair::restore(const PlayerSettings& used) {
  if (second_ == choice_) {
    return std::nullopt;
  }
  requested_ = flip(used);
  return requested_;
}

SettingsPair::Comparison SettingsPair::compare(const std::shared_ptr<const PlayedFrame>& shown,
                                               const PlayerSettings& used) {
  Comparison comparison;
  const std::size_t own = second_ ? 1 : 0;
  if (shown->settings == used) {
    if (result(own, shown->sequence, used) != shown) {
      keep(shown, used);
      comparison.has_result = true;
    }
    comparison.is_complete = result(1 - own, shown->sequence, used) != nullptr;
    if (comparison.is_complete && second_ == choice_) {
      return comparison;
    }
  } else if (requested_ == used) {
    return comparison;  // under way
  }
  comparison.next = requested_ = flip(used);
  return comparison;
}

void SettingsPair::keep(const std::shared_ptr<const PlayedFrame>& frame, const PlayerSettings& used) {
  if (frame->settings == used) {
    results_[second_ ? 1 : 0] = frame;
  }
}

std::shared_ptr<const PlayedFrame> SettingsPair::result(std::size_t which, std::uint64_t sequence,
                                                        const PlayerSettings& used) const {
  const std::shared_ptr<const PlayedFrame>& result = results_[which];
  const bool is_current =
      result != nullptr && result->sequence == sequence && result->settings == both(used)[which];
  return is_current ? result : nullptr;
}

}  // namespace limpid::app
