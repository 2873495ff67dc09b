#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "app/options/command_line.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// --engine, --threads, --hwaccel, and what follows from them for the stages around the engine.
struct EngineChoice {
  std::string name = "auto";
  int threads = 0;
  std::string hwaccel = "auto";

  void add_to(CommandLine& command);
  /// --hwaccel too, for commands that look at frames only where the engine does.
  void add_decoding_to(CommandLine& command);
  std::shared_ptr<Engine> open() const;
  /// The memory that frames should be decoded to for `engine`. Throws UsageError if --hwaccel asks for a
  /// GPU's and the engine couldn't read what it decodes.
  MemoryDomain decoding_memory(const Engine& engine) const;
  /// Lets reading and writing suit `engine`: whose frames they take, on which device, with how many threads.
  /// Throws as decoding_memory().
  void apply_to(io::ReaderOptions& reader, io::WriterOptions& writer,
                const std::shared_ptr<Engine>& engine) const;
};

/// Tells that the GPU did not decode, and why, if that was asked for.
void report_decoding(const EngineChoice& choice, const io::Reader& reader);

/// What io::ReaderOptions::allocate should be for frames that go to `engine`.
std::function<Frame(const FrameFormat&)> frame_allocator(const std::shared_ptr<Engine>& engine);

/// The threads of an encoder (io::WriterOptions): it shares the processors with the CPU engine, which has all
/// of them; beside a GPU it has as many as libavcodec or the encoder itself thinks right.
int encoder_threads(const Engine& engine);

/// How many frames should wait to be denoised at most (PipelineOptions): for a GPU, which may be faster than
/// the decoder, enough that the bursts in which libavcodec's threads give frames don't make these threads
/// wait.
std::size_t queued_frames(const Engine& engine);

}  // namespace limpid::app
