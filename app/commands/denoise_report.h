#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/commands/denoise_job.h"
#include "app/commands/progress.h"
#include "app/pipeline/pipeline.h"
#include "core/engine/noise_control.h"
#include "io/media/diagnostic.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// A job that has come to its end, or as far as an interrupt let it.
struct FinishedJob {
  const Job& job;
  const io::Reader& reader;
  const io::Writer& writer;
  const Filter& filter;
  const NoiseControl& noise;
  const PipelineCounters& counters;
  io::Diagnostics diagnostics;  ///< of both
  std::string output;           ///< the name that the file has got
  std::int64_t expected;        ///< frames; 0 if not known
  ProgressState end;
  bool complete;
};

/// Tells the user how it went.
void log_job(const FinishedJob& finished, const Session& session);

/// The same for --json; with the `warnings` that were logged.
nlohmann::ordered_json report_of(const FinishedJob& finished, const Session& session,
                                 const std::vector<std::string>& warnings);

}  // namespace limpid::app
