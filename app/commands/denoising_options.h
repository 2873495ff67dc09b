// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "app/console/console.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/jobs/plan.h"
#include "app/options/command_line.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
#include "core/engine/denoiser.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Command-line options of every command that denoises files. EngineOptions contains the options of the
/// engine.
struct DenoisingOptions {
  SettingsOptions settings;
  MediaOptions<io::ReaderOptions> reader{reader_fields()};
  DurationOption duration;
  MediaOptions<io::WriterOptions> writer{writer_fields()};
  GrainOptions grain;
  std::string purpose;  ///< of the output: --for
  std::int64_t frames = 0;

  /// Adds --start, --end, --duration and --frames. `command` keeps references to this object, as after the
  /// next functions.
  void add_range_to(CommandLine& command);
  /// Adds the options of the input and its streams.
  void add_streams_to(CommandLine& command);
  void add_encoding_to(CommandLine& command);

  /// Throws UsageError for options that exclude each other, and for those that a job of segments
  /// excludes. Called before any file is opened, as the next functions are.
  void check(bool in_segments) const;
  /// Reader options without the settings that depend on an engine.
  io::ReaderOptions reader_options() const;
  io::WriterOptions writer_options() const;
};

/// -q, --json and the log of commands that work on jobs.
struct JobMessageOptions {
  LoggingOptions logging;
  bool quiet = false;
  bool json = false;

  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  void set_up(Console& console) const;
};

/// Default length of segments: ten seconds of a film.
inline constexpr std::int64_t kSegmentFrames = 250;

/// The settings of a job's plan, without those that depend on the machine of a worker.
JobSettings job_settings(const DenoisingOptions& options, const Engine& engine);

/// Shows on a terminal how many frames `what` has processed. Returns false after an interrupt.
std::function<bool(std::int64_t frames, std::int64_t expected)> frame_counter(
    Console& console, const JobMessageOptions& options, const InterruptWatch& interrupts, std::string what);

}  // namespace limpid::app
