// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/commands/jobs.h"
#include "app/commands/progress.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/process.h"
#include "app/options/engine_options.h"
#include "app/options/settings_options.h"
#include "app/pipeline/film_grain.h"
#include "app/pipeline/pipeline.h"
#include "core/engine/denoiser.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/settings/denoising_settings.h"
#include "core/stream/noise_control.h"
#include "io/media/diagnostic.h"
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

/// A filter with all its settings for frames of this format and noise level, as they result from the profile,
/// the options and the noise. Settings of edge-preserving filters are listed for each plane that they filter.
nlohmann::ordered_json to_json(const Filter& filter, const NoiseModel& noise, const FrameFormat& format);

/// The evidence for a noise estimate: its source and certainty (0 to 1).
nlohmann::ordered_json evidence_report(const NoiseEstimate& noise);

/// The noise level of each plane, by the plane's name.
nlohmann::ordered_json to_json(const NoiseModel& noise, const FrameFormat& format);

/// A job that is complete or was interrupted.
struct FinishedJob {
  const Job& job;
  const io::Reader& reader;
  const io::Writer& writer;
  const Filter& filter;
  const NoiseControl& noise;
  const StreamCounters& counters;
  io::Diagnostics diagnostics;  ///< of both
  std::string output;           ///< name of the written file
  std::int64_t expected;        ///< number of frames; 0 if not known
  ProgressState end;
  bool complete;
};

/// Logs the outcome of a job for the user.
void log_job(const FinishedJob& finished, const Session& session);

/// The report for --json: the outcome of a job, and the `warnings` that were logged.
nlohmann::ordered_json report_of(const FinishedJob& finished, const Session& session,
                                 const std::vector<std::string>& warnings);

/// A line of a CSV file with a report's input, output, status, frames, seconds, fps, bytes, sigma, warnings
/// and error, as in kCsvHeader.
std::string csv_line(const nlohmann::ordered_json& report);
extern const char* const kCsvHeader;

/// The reports of limpid denoise, for --json and --csv.
class FilesReport {
 public:
  struct Options {
    bool json = false;  ///< print to standard output
    bool many = false;  ///< print a list and a summary, even for one file
    std::string csv;    ///< file; empty: none
    bool overwrite = false;
  };

  /// Throws Error if the CSV file exists and may not be overwritten.
  explicit FilesReport(Options options);

  /// Adds a file's report, whose "status" is done, partial, skipped or failed.
  void add(const nlohmann::ordered_json& report);
  /// Prints the end of the list and writes the CSV file. `inputs`: the number of files, of which an interrupt
  /// may have left some. Throws Error.
  void end(std::size_t inputs, bool interrupted);

 private:
  nlohmann::ordered_json summary(std::size_t inputs, bool interrupted) const;

  Options options_;
  ReportList list_;
  std::string csv_;
  int done_ = 0;
  int partial_ = 0;
  int skipped_ = 0;
  int failed_ = 0;
  std::int64_t frames_ = 0;
  std::int64_t bytes_ = 0;
  double seconds_ = 0;
};

}  // namespace limpid::app
