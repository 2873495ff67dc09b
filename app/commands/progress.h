// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "app/console/console.h"
#include "app/pipeline/pipeline.h"

namespace limpid::app {

enum class ProgressStyle : std::uint8_t {
  kNone,
  kStatus,  ///< one line, rewritten in place; for terminals
  kPlain,   ///< one line per second
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
  double speed() const;
  /// Remaining seconds; negative if not known.
  double eta() const;
};

/// "120/1000
///
/// 12.0 %
///
/// 30.1 fps, avg 29.8
///
/// 0.99x
///
/// ETA 0:29
///
/// dec 20 den 99 enc 35%"; a device adds " up 9 flt 90 down 8%".
std::string to_line(const ProgressState& state);
std::string to_json_line(const ProgressState& state);

/// Reports the progress of a pipeline on standard error, on its own thread, until destroyed.
class Progress {
 public:
  Progress(Console& console, ProgressStyle style, const PipelineCounters& counters, std::int64_t total,
           double source_fps, std::string input = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();

  /// The current state. May be called while the thread reports.
  ProgressState state(bool finished = false);

 private:
  using Clock = std::chrono::steady_clock;
  struct Sample {
    Clock::time_point time;
    std::int64_t frames = 0;
    std::array<std::int64_t, 6> busy_ns{};
  };
  Sample sample() const;
  void report(bool finished);
  void try_to_report(bool finished);
  void run(const std::stop_token& stop);

  Console& console_;
  const ProgressStyle style_;
  const PipelineCounters& counters_;
  const std::int64_t total_;
  const double source_fps_;
  const std::string input_;
  const Sample start_;
  std::mutex recent_mutex_;
  std::deque<Sample> recent_;
  std::jthread thread_;
};

}  // namespace limpid::app
