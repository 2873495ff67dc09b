// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/player/played_frame.h"
#include "app/player/view.h"
#include "app/player/viewer_options.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "core/stream/noise_control.h"
#include "io/screen/window.h"

namespace limpid::app {

/// The box in which noise is measured, in pixels of the displayed picture. The pointer moves and resizes it.
class NoiseBox {
 public:
  static constexpr double kHandle = 8;  ///< side of a handle, in units of 1/96 inch

  /// `least`: smallest width and height after resizing.
  NoiseBox(const io::Rectangle& box, io::Size picture, int least)
      : box_(box), picture_(picture), least_(least) {}

  const io::Rectangle& box() const { return box_; }

  /// Takes the edge or corner within `reach` pixels of a point, or the inside of the box. False if the point
  /// is outside.
  bool grab(double x, double y, double reach);
  bool is_held() const { return held_.has_value(); }
  /// Moves what is held to a point. The box stays inside the picture.
  void drag(double x, double y);
  /// Lets go. True if the box has changed since grab().
  bool release() {
    const bool changed = held_ && held_->from != box_;
    held_.reset();
    return changed;
  }

 private:
  /// Held edges: -1 the left or upper one, 1 the right or lower one, 0 neither. Both 0: the box moves.
  struct Held {
    int horizontal = 0;
    int vertical = 0;
    double x = 0;  ///< of the pointer when the box was `from`
    double y = 0;
    io::Rectangle from;
  };

  io::Rectangle box_;
  io::Size picture_;
  int least_;
  std::optional<Held> held_;
};

/// The part of a frame in host memory that is most suitable for measuring noise: the flattest one whose
/// samples are not clipped. Each side is a quarter of the frame's, but at least `least` samples. It lies in
/// `within`, and is smaller if necessary, unless less than `least` samples fit there. Nothing if the frame is
/// smaller.
std::optional<Region> flattest_region(const Frame& frame, const Region& within, int least);

/// The region of the stored frame that a part of the displayed picture shows.
Region stored_region(const io::Rectangle& part, const FrameFormat& format,
                     const io::DisplayProperties& display);

/// The area of the picture in which the noise is measured.
class NoiseArea {
 public:
  NoiseArea(const ViewerOptions& options, std::shared_ptr<Engine> engine, io::Size picture)
      : options_(options), engine_(std::move(engine)), picture_(picture) {}

  /// The box on the picture; nothing if there is none.
  std::optional<NoiseBox>& box() { return box_; }
  const std::optional<NoiseBox>& box() const { return box_; }
  /// Draws a new box, which the pointer holds until it is measured.
  void mark(const io::Rectangle& box) {
    is_marked_now_ = true;
    box_.emplace(box, picture_, NoiseTracker::kLeastSide);
  }
  bool is_marked_now() const { return is_marked_now_; }
  void end_mark() { is_marked_now_ = false; }
  /// Removes the box unless it is the source of these settings.
  void suit(const NoiseSettings& settings) {
    if (settings.noise != noise_) {
      box_.reset();
    }
  }
  /// True if the settings have the noise of the box.
  bool is_source_of(const NoiseSettings& settings) const { return box_ && settings.noise == noise_; }

  /// Keeps a frame that is followed by another: differences of both show the noise.
  void leave(const PlayedFrame& frame) {
    before_ = frame.noisy;
    before_sequence_ = frame.sequence;
  }
  struct Measured {
    std::optional<NoiseProfile> noise;  ///< nothing if it could not be measured
    std::string text;                   ///< for the user
  };
  /// Measures the noise of the shown frame in the box.
  Measured measure(const PlayedFrame& shown);
  /// Puts the box on the flattest part of `seen`. Returns false if the picture is too small.
  bool propose(const PlayedFrame& shown, const io::Rectangle& seen);

 private:
  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const io::Size picture_;
  std::optional<NoiseBox> box_;
  bool is_marked_now_ = false;
  std::optional<NoiseProfile> noise_;  ///< measured in the box
  Frame before_;                       ///< the noisy frame that was shown before
  std::uint64_t before_sequence_ = 0;  ///< its PlayedFrame::sequence
};

/// The samples of a pixel, noisy and denoised.
class PixelValues {
 public:
  /// `options` must outlive this object. `engine`: of the frames.
  PixelValues(const ViewerOptions& options, std::shared_ptr<Engine> engine)
      : options_(options), engine_(std::move(engine)) {}

  /// "x 12, y 34: noisy Y 120 U 128 V 131, denoised ...", with the values as stored (behind
  /// ViewerOptions::after), at a position of the displayed picture; empty outside of it.
  std::string text(const PlayedFrame& shown, View::Point at);

 private:
  static std::string samples(const Frame& frame, int x, int y);

  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const PlayedFrame* last_ = nullptr;  ///< whose frames are kept; only compared
  Frame noisy_;
  Frame denoised_;
};

}  // namespace limpid::app
