// SPDX-License-Identifier: MIT
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

/// A job that is complete or was interrupted.
struct FinishedJob {
  const Job& job;
  const io::Reader& reader;
  const io::Writer& writer;
  const Filter& filter;
  const NoiseControl& noise;
  const PipelineCounters& counters;
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

}  // namespace limpid::app
