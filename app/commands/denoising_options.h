#pragma once

#include <cstdint>
#include <string>

#include "app/options/command_line.h"
#include "app/options/field_options.h"
#include "app/options/filter_options.h"
#include "app/options/media_options.h"
#include "app/options/noise_options.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// What is to be made of a file, as all commands that denoise files are asked: all but where it is done.
struct DenoisingOptions {
  NoiseOptions noise;
  FilterOptions filter;
  MediaOptions<io::ReaderOptions> reader{reader_fields()};
  MediaOptions<io::WriterOptions> writer{writer_fields()};
  FieldOptions fields;
  std::int64_t frames = 0;

  /// --start, --end and --frames. As for the others, the command refers to this object from then on.
  void add_range_to(CommandLine& command, const std::string& group);
  /// How to read the input, and which of its streams.
  void add_streams_to(CommandLine& command, const std::string& group);
  void add_encoding_to(CommandLine& command);

  /// Throws UsageError for what contradicts itself, before any file is touched; so do the others.
  void check() const;
  /// Without what depends on an engine.
  io::ReaderOptions reader_options() const;
  io::WriterOptions writer_options() const;
};

}  // namespace limpid::app
