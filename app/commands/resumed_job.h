#pragma once

#include <cstdint>

#include "app/commands/denoise_job.h"
#include "app/commands/denoising_options.h"

namespace limpid::app {

/// As run_job(), but by stretches that are kept in a folder beside the output, "NAME.limpid-job", until it is
/// there: after a kill or a power cut the next run goes on with them. An output that exists is done, unless
/// it may be overwritten. Stretches have about `stretch_frames` frames. Throws what has stopped it, and
/// UsageError for what can't be resumed.
JobResult run_resumed_job(Job job, const DenoisingOptions& options, std::int64_t stretch_frames,
                          const Session& session);

}  // namespace limpid::app
