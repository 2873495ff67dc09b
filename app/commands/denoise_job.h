#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/console/console.h"
#include "app/console/interrupt.h"
#include "app/options/engine_options.h"
#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "core/engine/noise_control.h"
#include "core/filter/filter.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// How to treat an existing output.
enum class Existing : std::uint8_t { kAsk, kOverwrite, kSkip };

/// A file to denoise, with the settings that are made before it is opened.
struct Job {
  std::string input;
  std::string output;                                 ///< empty if it is to be named after the input
  std::function<Filter(bool frame_by_frame)> filter;  ///< FilterOptions::filter()
  std::string profile;                                ///< of the filter, if it has profiles
  NoiseSettings noise;
  std::string strength;  ///< of the noise, by its name
  FieldChoice fields = FieldChoice::kAuto;
  io::ReaderOptions reader;
  io::WriterOptions writer;
  std::int64_t frames = 0;  ///< at most; 0: all
  Existing existing = Existing::kAsk;
  bool strict = false;
};

/// The data that the jobs of a run share.
struct Session {
  const EngineChoice& choice;
  std::shared_ptr<Engine> engine;
  const InterruptWatch& interrupts;
  Console& console;
  ProgressStyle progress_style;
  OutputNames* names;  ///< null if jobs have their outputs
  bool stats;          ///< print the rates of each stage
  bool json;           ///< print reports to standard output
};

enum class Outcome : std::uint8_t {
  kDone,
  kPartial,
  kSkipped,
  kNothing,  ///< an interrupt came before there was anything to finish
};

// That json's move constructor may throw is only what clang-tidy makes of an assertion in it.
struct JobResult {  // NOLINT(bugprone-exception-escape)
  Outcome outcome = Outcome::kNothing;
  nlohmann::ordered_json report;  ///< for --json
};

/// Denoises a file and logs how it went. Throws what has stopped it.
JobResult run_job(Job job, const Session& session);

}  // namespace limpid::app
