#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/jobs/plan.h"
#include "io/media/diagnostic.h"
#include "io/media/writer.h"

namespace limpid::app {

struct MergedFile {
  std::int64_t frames = 0;
  std::int64_t bytes = 0;
  std::uint64_t hash = 0;  ///< of the samples of all results
  bool joined = false;     ///< not encoded again
  std::vector<std::string> engines;
  io::Diagnostics diagnostics;
};

/// "3 of 240 segments are missing: 5, 17 to 18"; empty if none is.
std::string missing_segments(const JobFolder& folder, const Plan& plan);

/// Writes what one run over the input would, of its segments, which must all be done. Throws Error. Nothing,
/// with 0 frames, if `goes_on` says no after a frame.
MergedFile merge_input(const JobFolder& folder, const Plan& plan, int input, const std::string& output,
                       io::Overwrite overwrite,
                       const std::function<bool(std::int64_t frames, std::int64_t expected)>& goes_on);

}  // namespace limpid::app
