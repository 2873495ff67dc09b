// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "app/console/console.h"
#include "core/base/not_copyable.h"
#include "core/stream/stream.h"

namespace limpid::app {

enum class ProgressStyle : std::uint8_t {
  kNone,
  kStatus,  ///< one line, rewritten in place; for terminals
  kPlain,   ///< one line every 30 seconds or 5 percent, with the time and the name of the source
  kJson,    ///< one JSON object per second, each on a line
};

/// Parses "auto", "plain", "json" or "none". On a terminal, auto and plain are kStatus; elsewhere auto is
/// kNone and plain kPlain. Throws UsageError for other names.
ProgressStyle parse_progress_style(const std::string& name, bool terminal);

/// The progress of a run. Rates are in frames per second.
struct ProgressState {
  std::int64_t frames = 0;
  std::int64_t total = 0;  ///< 0 if not known
  double elapsed = 0;      ///< seconds
  double fps = 0;          ///< mean of the last seconds
  double average_fps = 0;
  /// Shares of time in which a stage worked instead of waiting for other stages: decoding, denoising and
  /// encoding, then uploads, filtering and downloads if a device denoises. They cover the last seconds, and
  /// at the end the whole run.
  std::array<double, 6> busy{};
  bool on_device = false;
  double source_fps = 0;  ///< 0 if not known
  std::string input;      ///< name of the source for to_json_line(); empty: omitted
  bool finished = false;  ///< the run has ended, with or without success

  /// Average speed as a multiple of real time; 0 if not known.
  double speed() const { return source_fps > 0 ? average_fps / source_fps : 0; }
  /// Remaining seconds; negative if not known.
  double eta() const {
    if (total <= 0 || average_fps <= 0) {
      return -1;
    }
    return static_cast<double>(std::max<std::int64_t>(0, total - frames)) / average_fps;
  }
};

/// Frames, share, rates, speed, time left, and the load of the stages, separated by two blanks; a device adds
/// its own load: "up 9 flt 90 down 8%".
std::string to_line(const ProgressState& state);
std::string to_json_line(const ProgressState& state);
/// "2026-11-28 10:00:05 noisy.mkv: " and to_line(). `time`: local time as text.
std::string to_plain_line(const ProgressState& state, const std::string& time);

/// Decides which states of a run ProgressStyle::kPlain prints.
class PlainInterval {
 public:
  /// True 30 seconds or 5 percent after the last state for which it was true, and at the end.
  bool is_due(const ProgressState& state);

 private:
  double elapsed_ = 0;
  double fraction_ = 0;
};

/// Reports the progress of a pipeline on standard error, on its own thread, until destroyed.
class Progress : NotCopyable {
 public:
  /// `outlook`: returns a text about the time left, which is logged once, after the first seconds of results;
  /// empty for no text.
  Progress(Console& console, ProgressStyle style, const StreamCounters& counters, std::int64_t total,
           double source_fps, std::string input = {},
           std::function<std::string(const ProgressState&)> outlook = {});
  ~Progress();

  /// Makes the number of written frames the total: all frames are written.
  void complete() { complete_ = true; }
  /// Logs the outlook once the rate is measurable, `elapsed` seconds after the start. The
  /// thread calls this; tests do it without a thread.
  void give_outlook(double elapsed);
  /// The current state. May be called while the thread reports.
  ProgressState state(bool finished = false);

 private:
  using Clock = std::chrono::steady_clock;
  struct Sample {
    Clock::time_point time;
    std::int64_t frames = 0;
    std::array<std::int64_t, 6> busy_ns{};
  };
  Sample sample() const {
    return {Clock::now(),
            counters_.write.frames,
            {counters_.read.busy_ns, counters_.denoise.busy_ns, counters_.write.busy_ns,
             counters_.upload.busy_ns, counters_.filter.busy_ns, counters_.download.busy_ns}};
  }
  void report(bool finished);
  void try_to_report(bool finished);
  void run(const std::stop_token& stop);

  Console& console_;
  const ProgressStyle style_;
  const StreamCounters& counters_;
  const std::int64_t total_;
  const double source_fps_;
  const std::string input_;
  std::function<std::string(const ProgressState&)> outlook_;  // empty once it has been given
  PlainInterval plain_;
  double first_result_at_ = 0;      // seconds after the start
  std::int64_t first_results_ = 0;  // number of frames at that time
  std::atomic<bool> complete_ = false;
  const Sample start_;
  std::mutex recent_mutex_;
  std::deque<Sample> recent_;
  std::jthread thread_;
};

/// Measured quality and speed of a profile of a filter. tests/app/commands compares the values with
/// bench/results.
struct FilterFigures {
  std::string_view filter;
  std::string_view profile;            ///< empty: the filter has none
  std::optional<double> video_psnr;    ///< dB, luma of seven clips at sigma 20 (video_quality.json)
  std::optional<double> picture_psnr;  ///< dB, twelve pictures at sigma 25 (cpu_filter_quality.json)
  std::optional<double> gpu_ms;        ///< 1080p luma on an NVIDIA H200 (cuda_*_h200.json)
  std::optional<double> cpu_time;      ///< on one thread, relative to the default filter (cpu_filters.json)
  std::optional<double> gpu_mib = {};  ///< of a GPU, for 1080p in 4:2:0 (cuda_vbm4d_h200.json)
};

/// Null for profiles that were not measured.
const FilterFigures* figures_of(std::string_view filter, std::string_view profile);

/// The profile of `filter` that takes the least time. Null for filters without measured profiles.
const FilterFigures* quickest_profile(std::string_view filter);

/// The sources of the figures, for a footer.
extern const char* const kFigureSources;

/// The profile of a run.
struct ProfileInUse {
  std::string filter;
  std::string profile;
};

/// The quality that takes much less of a GPU's memory: "; --filter vbm4d --quality good takes 52 % of the
/// memory". Empty if none is known.
std::string less_memory_text(const ProfileInUse& used);

/// The time left of a run that takes more than a minute, and the time with the filter's quickest profile if
/// denoising takes most of the time: "about 57 min left; with --quality fast about 16 min, and 0.6 dB less on
/// the test clips". Empty for shorter runs, and if the number of frames is not known.
std::string outlook_text(const ProgressState& state, const ProfileInUse& used);

}  // namespace limpid::app
