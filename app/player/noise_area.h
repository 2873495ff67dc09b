// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/player/noise_box.h"
#include "app/player/played_frame.h"
#include "app/player/viewer_options.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// The region of the stored frame that a part of the displayed picture shows.
Region stored_region(io::Rectangle part, const FrameFormat& format, const io::DisplayProperties& display);

/// The area of the picture in which the noise is measured.
class NoiseArea {
 public:
  NoiseArea(const ViewerOptions& options, std::shared_ptr<Engine> engine, io::Size picture)
      : options_(options), engine_(std::move(engine)), picture_(picture) {}

  /// The box on the picture; nothing if there is none.
  std::optional<NoiseBox>& box() { return box_; }
  const std::optional<NoiseBox>& box() const { return box_; }
  /// Draws a new box, which the pointer holds until it is measured.
  void mark(const io::Rectangle& box);
  bool is_marked_now() const { return is_marked_now_; }
  void end_mark() { is_marked_now_ = false; }
  /// Removes the box unless it is the source of these settings.
  void suit(const NoiseSettings& settings);
  /// True if the settings have the noise of the box.
  bool is_source_of(const NoiseSettings& settings) const { return box_ && settings.noise == noise_; }

  /// Keeps a frame that is followed by another: differences of both show the noise.
  void leave(const PlayedFrame& frame);
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

}  // namespace limpid::app
