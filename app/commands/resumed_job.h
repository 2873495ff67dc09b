// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"

namespace limpid::app {

/// Runs a job in segments of about `segment_frames` frames. Finished segments are kept in a folder beside the
/// output, "NAME.limpid-job", until the output is complete. After a kill or a power cut, the next run uses
/// these segments and removes temporary files of the killed run. An existing output counts as complete,
/// unless it may be overwritten. Throws the error that stopped the job, Error for a folder of that name that
/// is not a job, and UsageError for jobs that cannot be resumed.
JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t segment_frames,
                          const Session& session);

}  // namespace limpid::app
