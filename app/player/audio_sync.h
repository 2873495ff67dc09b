// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

}  // namespace limpid::app
