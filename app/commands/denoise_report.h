// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/denoise_job.h"
#include "app/commands/progress.h"
#include "app/pipeline/pipeline.h"
#include "core/engine/noise_control.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "io/media/diagnostic.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

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
