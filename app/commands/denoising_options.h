// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "app/options/command_line.h"
#include "app/options/grain_options.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
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
  void add_range_to(CommandLine& command, const std::string& group);
  /// Adds the options of the input and its streams.
  void add_streams_to(CommandLine& command, const std::string& group);
  void add_encoding_to(CommandLine& command);

  /// Throws UsageError for options that exclude each other. Called before any file is opened, as the next
  /// functions are.
  void check() const;
  /// Reader options without the settings that depend on an engine.
  io::ReaderOptions reader_options() const;
  io::WriterOptions writer_options() const;
};

}  // namespace limpid::app
