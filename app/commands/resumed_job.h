#pragma once

#include <cstdint>

#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"

namespace limpid::app {

/// Runs a job in segments of about `segment_frames` frames, which are kept in a folder beside the output,
/// "NAME.limpid-job", until the output is complete. After a kill or a power cut, the next run resumes with
/// them and removes the remains of the killed one. An existing output counts as done, unless it may be
/// overwritten. Throws the error that has stopped it, Error for a folder of that name that is not a job, and
/// UsageError for jobs that cannot be resumed.
JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t segment_frames,
                          const Session& session);

}  // namespace limpid::app
