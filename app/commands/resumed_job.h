#pragma once

#include <cstdint>

#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"

namespace limpid::app {

/// As run_job(), but by segments that are kept in a folder beside the output, "NAME.limpid-job", until the
/// output is complete: after a kill or a power cut the next run resumes with them, and removes what the
/// killed one has left. An output that exists is done, unless it may be overwritten. Segments have about
/// `segment_frames` frames. Throws what has stopped it, Error for a folder of that name that is not a job's,
/// and UsageError for what can't be resumed.
JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t segment_frames,
                          const Session& session);

}  // namespace limpid::app
