// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace limpid::app {

/// Rates and loads of a playing source, each over about a second.
class PlaybackRates {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts and working times since the beginning.
  struct Totals {
    Clock::time_point at;
    std::int64_t shown = 0;     ///< frames
    std::int64_t denoised = 0;  ///< frames
    std::chrono::nanoseconds reading{0};
    std::chrono::nanoseconds denoising{0};
    std::chrono::nanoseconds presenting{0};
  };
  /// How the source plays.
  struct Playing {
    double frames_per_second = 0;  ///< to be shown
    bool runs = false;             ///< neither paused nor at the end
    bool live = false;             ///< reading includes waiting for frames
  };
  /// Shares of the time, 0 to 1.
  struct Loads {
    double reading = 0;
    double denoising = 0;
    double presenting = 0;
  };

  /// True if the last measurement is old enough for another one.
  bool is_due(Clock::time_point now) const { return !last_ || now - last_->at >= kInterval; }
  /// Measures the time since the last call.
  void measure(const Totals& totals, const Playing& playing);

  // All 0, or nothing, before the second call of measure().
  double shown_fps() const { return shown_fps_; }
  double denoised_fps() const { return denoised_fps_; }
  /// Frames per second that the denoiser could reach if it never waited; 0 without frames.
  double denoised_fps_alone() const {
    return loads_ && loads_->denoising > 0 ? denoised_fps_ / loads_->denoising : 0;
  }
  const std::optional<Loads>& loads() const { return loads_; }

  /// True if several measurements in a row had too few shown frames because a stage was busy.
  bool is_slow() const { return slow_in_a_row_ >= kReliable; }
  /// True if denoising takes nearly all the time.
  bool is_denoising_slow() const { return loads_ && loads_->denoising > kFewer; }
  /// True if reading does, while denoising has time left: both slow each other on few processors.
  bool is_decoding_slow() const { return loads_ && loads_->reading > kFewer && loads_->denoising < kHasTime; }
  /// The settings have changed: earlier measurements do not count for is_slow().
  void forget_slowness() { slow_in_a_row_ = 0; }

  static constexpr std::chrono::milliseconds kInterval{1000};

 private:
  static constexpr int kReliable = 3;
  static constexpr double kFewer = 0.8;
  static constexpr double kHasTime = 0.5;

  std::optional<Totals> last_;
  std::optional<Loads> loads_;
  double shown_fps_ = 0;
  double denoised_fps_ = 0;
  int slow_in_a_row_ = 0;
};

}  // namespace limpid::app
