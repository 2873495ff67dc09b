// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "app/console/logging.h"
#include "app/options/command_line.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Adds --log-level and --log-file under the heading `group`. `command` keeps a reference to `options`.
void add_logging_options(CommandLine& command, LoggingOptions& options, const std::string& group);

/// --engine, --threads and --hwaccel, and the settings of readers and writers that follow from them.
struct EngineChoice {
  std::string name = "auto";
  int threads = 0;
  std::string hwaccel = "auto";

  void add_to(CommandLine& command);
  /// Adds --hwaccel, for commands that use frames only in the engine.
  void add_decoding_to(CommandLine& command);
  std::shared_ptr<Engine> open() const;
  /// The memory to decode frames to. Throws UsageError if --hwaccel selects a GPU whose memory `engine`
  /// cannot read.
  MemoryDomain decoding_memory(const Engine& engine) const;
  /// Sets the frame allocator, the device and the threads for `engine`. Throws UsageError as
  /// decoding_memory() does.
  void apply_to(io::ReaderOptions& reader, io::WriterOptions& writer,
                const std::shared_ptr<Engine>& engine) const;
};

/// If hardware decoding was requested but not used, logs the reason.
void report_decoding(const EngineChoice& choice, const io::Reader& reader);

/// The value of io::ReaderOptions::allocate for frames that `engine` processes.
std::function<Frame(const FrameFormat&)> frame_allocator(const std::shared_ptr<Engine>& engine);

/// The threads of an encoder (io::WriterOptions): half of the processors with the CPU engine, the encoder's
/// default with a GPU.
int encoder_threads(const Engine& engine);

/// The maximum number of frames that wait to be denoised (StreamOptions). A GPU may be faster than the
/// decoder. The queue then holds the frames that libavcodec's threads deliver in bursts.
std::size_t queued_frames(const Engine& engine);

}  // namespace limpid::app
