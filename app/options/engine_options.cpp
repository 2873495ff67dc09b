// SPDX-License-Identifier: MIT
#include "app/options/engine_options.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/system.h"
#include "core/engines.h"

namespace limpid::app {

void add_logging_options(CommandLine& command, LoggingOptions& options, const std::string& group) {
  command.begin_group(group);
  command
      .add_option("--log-level", options.level,
                  "Least severe messages to print: trace, debug, info, warning, error or off [info]")
      ->advanced()
      ->type_name("LEVEL")
      ->one_of({"trace", "debug", "info", "warning", "error", "off"});
  command.add_option("--log-file", options.file, "Write a log with times and debug messages to FILE")
      ->advanced()
      ->type_name("FILE")
      ->file();
}

namespace {

constexpr const char* kGroup = "Filter and quality";

}  // namespace

void EngineChoice::add_to(CommandLine& command) {
  command.begin_group(kGroup);
  command
      .add_option("--engine", name,
                  "Engine: auto, cpu, cuda, cuda:0,1 or cuda:all (see limpid devices) [auto]")
      ->type_name("NAME")
      ->words({"auto", "cpu", "cuda", "cuda:all"})
      ->any_case();
  command
      .add_option("--threads", threads,
                  "Threads of the CPU engine, 1-1024 [one per processor that the process may use]")
      ->advanced()
      ->type_name("N")
      ->in_range(1, 1024);
}

void EngineChoice::add_decoding_to(CommandLine& command) {
  command.begin_group(kGroup);
  command
      .add_option("--hwaccel", hwaccel,
                  "Hardware decoding: auto (use the GPU of the engine if the codec allows), none, or cuda "
                  "(warn if not possible) [auto]")
      ->advanced()
      ->type_name("NAME")
      ->any_case()
      ->one_of({"auto", "none", "cuda"});
}

MemoryDomain EngineChoice::decoding_memory(const Engine& engine) const {
  if (hwaccel == "none") {
    return kHostMemory;
  }
  if (hwaccel == "cuda" && engine.memory().kind != MemoryKind::kCuda) {
    throw UsageError("--hwaccel cuda: the engine " + std::string(engine.name()) +
                     " can't read frames in the memory of a GPU; one such as cuda:0 is needed");
  }
  return engine.memory();
}

void EngineChoice::apply_to(io::ReaderOptions& reader, io::WriterOptions& writer,
                            const std::shared_ptr<Engine>& engine) const {
  reader.allocate = frame_allocator(engine);
  reader.memory = decoding_memory(*engine);
  io::match_depths(writer, reader);
  writer.memory = engine->result_memory();
  writer.encoder_threads = encoder_threads(*engine);
}

void report_decoding(const EngineChoice& choice, const io::Reader& reader) {
  const io::VideoProperties& video = reader.video();
  if (!video.why_not_on_cuda.empty()) {
    spdlog::log(choice.hwaccel == "cuda" ? spdlog::level::warn : spdlog::level::info,
                reader.url() + ": decoded by the CPU: " + video.why_not_on_cuda);
  }
}

std::shared_ptr<Engine> EngineChoice::open() const {
  return engine_registry().open(name, EngineOptions{threads});
}

std::function<Frame(const FrameFormat&)> frame_allocator(const std::shared_ptr<Engine>& engine) {
  if (!engine->prefers_own_frames()) {
    return {};
  }
  return [engine](const FrameFormat& format) { return engine->allocate_frame(format); };
}

int encoder_threads(const Engine& engine) {
  if (!engine.memory().is_host()) {
    return 0;
  }
  return std::clamp(processors() / 2, 2, 16);
}

std::size_t queued_frames(const Engine& engine) { return engine.memory().is_host() ? 3 : 32; }

}  // namespace limpid::app
