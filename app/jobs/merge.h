// SPDX-License-Identifier: MIT
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
  std::uint64_t hash = 0;  ///< hash of the samples of all results
  bool joined = false;     ///< not encoded again
  std::vector<std::string> engines;
  io::Diagnostics diagnostics;
};

/// "3 of 240 segments are missing: 5, 17 to 18"; empty if none are missing.
std::string missing_segments(const JobFolder& folder, const Plan& plan);

/// Joins the segments of an input into the output that a single run would write. All segments must be done.
/// If `goes_on` returns false after a frame, nothing is written, and the result has 0 frames. Throws Error.
MergedFile merge_input(const JobFolder& folder, const Plan& plan, int input, const std::string& output,
                       io::Overwrite overwrite,
                       const std::function<bool(std::int64_t frames, std::int64_t expected)>& goes_on);

}  // namespace limpid::app
