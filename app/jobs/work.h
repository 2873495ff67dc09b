// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/jobs/plan.h"
#include "core/engine/denoiser.h"
#include "io/media/diagnostic.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Thrown after a requested stop. No file of the segment remains.
struct Stopped {};

/// Denoises a segment: writes its file, then the file that marks it as done. Both are complete, or neither
/// exists. Throws Error and Stopped.
DoneSegment do_segment(const JobFolder& folder, const Plan& plan, int number,
                       const std::shared_ptr<Engine>& engine, const std::stop_token& stop);

/// The segments for one worker of an array: every `of`-th, beginning with `index`.
struct Share {
  int index = 0;
  int of = 0;  ///< number of shares; 0: one per segment
};

/// The share of a task of a scheduler's array, from its environment variables; nothing outside of an array.
/// `value_of` returns the value of a variable, or null.
std::optional<Share> share_of_array(const std::function<const char*(const char* name)>& value_of);

/// The numbers of a worker's segments. Throws UsageError for an illegal index.
std::vector<int> segments_of(const Share& share, int segments);

struct WorkReport {
  int done = 0;   ///< by this worker
  int there = 0;  ///< segments that were done before, or by other workers meanwhile
  int with_others = 0;
  std::vector<int> failed;
  std::int64_t frames = 0;  ///< frames of the segments that this worker has denoised
  bool stopped = false;
};

struct WorkOptions {
  std::optional<Share> share;  ///< empty: any free segment
  double patience = 120;       ///< seconds after which the worker of a claim counts as lost
  bool waits = false;          ///< wait for segments of other workers, which may be lost
};

/// Denoises segments until none is left or a stop is requested. Failures of segments are logged and recorded
/// in the folder; other failures throw Error.
WorkReport work_on(const JobFolder& folder, const Plan& plan, const WorkOptions& options,
                   const std::shared_ptr<Engine>& engine, const std::stop_token& stop);

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
