// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/player/osd.h"
#include "app/player/player.h"
#include "app/player/viewer_options.h"
#include "core/stream/stream.h"

namespace limpid::app {

/// Numbers of frames, by the filter that they were denoised with.
using FilterCounts = std::map<std::string, std::int64_t>;

/// "2 by recursive:profile=np, 1 by vbm4d:profile=np"
std::string to_text(const FilterCounts& counts);

struct Recording {
  std::string file;
  std::string encoder;  ///< such as "libx264, preset veryfast"
  std::int64_t frames = 0;
  std::int64_t dropped = 0;  ///< because the encoder was too slow
};

/// Counts and times of the shown frames, for reports.
struct ViewerReport {
  std::int64_t shown = 0;
  std::int64_t dropped = 0;
  std::int64_t interlaced = 0;  ///< of the frames shown: those filtered by field
  FilterCounts filters;         ///< of the frames shown
  std::vector<Recording> recordings;
  // Empty unless times are kept: a camera may run for days.
  std::vector<double> shown_at;        ///< seconds of the steady clock at which each frame was shown
  std::vector<double> times;           ///< times of these frames in the source
  std::vector<double> latencies;       ///< seconds from decoding to showing these frames
  std::vector<double> ahead_of_sound;  ///< seconds, of the frames that were shown while sound was heard

  /// Counts a frame that is shown `now`.
  void add(const PlayedFrame& frame, Player::Clock::time_point now, bool keeps_times);
};

/// Filter and profile as an option takes them, such as "vbm4d:profile=np".
std::string filter_text(const PlayerSettings& settings);

/// Filter and profile for labels, such as "vbm4d np".
std::string short_text(const FilterSettings& filter);

/// The state of a result that its label shows, beside the properties of the frame.
struct ResultState {
  bool is_live = false;
  bool is_late = false;        ///< settings that were requested some time ago are to come
  bool view_is_final = false;  ///< all that is seen of a frame that is refined in part
  bool has_line = false;       ///< beside which it is refined first
  std::optional<double>
      final_in;  ///< seconds until the result of `limpid denoise`, if it will come; 0: unknown
};

/// The label of a result: "denoised, final" if `limpid denoise` writes it; "denoised, draft (bilateral)"
/// after a quicker filter, or without the later frames that the filter needs, and "final in 12 s" if it will
/// come; "denoised" for cameras, with the filter if it is not the chosen one; "computing" before there is a
/// result.
std::string result_label(const PlayedFrame& frame, const ResultState& state);
/// True if `limpid denoise` writes this result.
bool is_final(const PlayedFrame& frame);

/// Filter and strength, such as "vbm4d np, strength 1.2".
std::string settings_text(const PlayerSettings& settings);

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

/// Rates, loads and latency of a playing source, and the report on the frames that were shown.
class Measurements {
 public:
  using Time = Player::Clock::time_point;

  /// `options` and `player_options` must outlive this object.
  Measurements(const ViewerOptions& options, const PlayerOptions& player_options)
      : options_(options), player_options_(player_options) {}

  /// Counts a frame that is shown now. `heard`: position of the audio, if it is heard.
  void add(const PlayedFrame& frame, std::optional<double> heard);
  /// Measures if the last measurement is old enough. `runs`: neither paused nor at the end.
  bool measure(const Player& player, bool runs, Time now);
  /// Calls function(), which shows the window.
  template <typename Function>
  void time_presenting(const Function& function) {
    timed(presenting_.busy_ns, function);
  }
  void forget_slowness() { rates_.forget_slowness(); }

  const ViewerReport& report() const { return report_; }
  ViewerReport& report() { return report_; }
  /// The values of the statistics, except position and state.
  Statistics statistics(const Player& player, const PlayedFrame& shown) const;
  /// A sentence on the cause if the source plays too slowly; else empty.
  std::string slowness(const Player& player) const;

 private:
  const ViewerOptions& options_;
  const PlayerOptions& player_options_;
  PlaybackRates rates_;
  double latency_ = 0;  ///< seconds from decoding to the screen, smoothed
  StageCounters presenting_;
  ViewerReport report_;
};

/// The certainty of the noise estimate or its reason, and the kind of the noise.
std::string noise_remark(const NoiseEstimate& noise, ColorModel color_model);
/// The reason if the result equals the source, or nearly so; else empty.
std::string noise_hint(const PlayedFrame& shown);
/// The advice for a denoiser that is too slow.
std::string pace_hint(const PlayerSettings& settings);

}  // namespace limpid::app
