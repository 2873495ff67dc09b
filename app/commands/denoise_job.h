// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/console/console.h"
#include "app/console/process.h"
#include "app/options/engine_options.h"
#include "app/options/settings_options.h"
#include "app/pipeline/film_grain.h"
#include "core/engine/denoiser.h"
#include "core/filter/filter.h"
#include "core/settings/denoising_settings.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// The table of --grain for an output that begins with the first frame of the request; empty if there is no
/// grain. Throws Error for a file that is no table.
FilmGrainTable table_for_output(const GrainOptions& options, const FilmGrainRequest& request, Engine& engine);

/// The table of --add-grain, with numbers of frames as times; empty without the option.
FilmGrainTable table_to_add(const GrainOptions& options, FilmGrainRequest request, Engine& engine);

/// The action for an output file that exists already.
enum class Existing : std::uint8_t { kAsk, kOverwrite, kSkip };

/// A file to denoise, with its settings.
struct Job {
  std::string input;
  std::string output;                                 ///< empty: named after the input
  std::function<Filter(bool frame_by_frame)> filter;  ///< FilterOptions::filter()
  std::string profile;                                ///< profile of the filter, if it has profiles
  DenoisingSettings settings;
  std::string strength;  ///< strength of denoising by name, such as "light"
  io::ReaderOptions reader;
  io::WriterOptions writer;
  GrainOptions grain;
  std::int64_t frames = 0;  ///< maximum number of frames; 0: all
  Existing existing = Existing::kAsk;
  bool strict = false;
};

/// Data shared by all jobs of a run.
struct Session {
  const EngineChoice& choice;
  std::shared_ptr<Engine> engine;
  const InterruptWatch& interrupts;
  Console& console;
  ProgressStyle progress_style;
  OutputNames* names;  ///< names for the outputs in a folder; null if each job has a given output
  bool stats;          ///< print the rates of each stage
  bool json;           ///< print reports to standard output
  std::vector<std::string> warnings = {};  ///< warnings about the command line, for reports
};

enum class Outcome : std::uint8_t {
  kDone,
  kPartial,
  kSkipped,
  kNothing,  ///< interrupted before the first result
};

// That json's move constructor may throw is only what clang-tidy makes of an assertion in it.
struct JobResult {  // NOLINT(bugprone-exception-escape)
  Outcome outcome = Outcome::kNothing;
  nlohmann::ordered_json report;  ///< for --json
};

/// Sets the output of a job that is named after its input.
void settle_name(Job& job, const io::Reader& reader, const Session& session);

/// Denoises a file and logs the outcome. Throws the error that stopped it.
JobResult run_job(Job job, const Session& session);

}  // namespace limpid::app
