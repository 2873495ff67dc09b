// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/jobs/plan.h"
#include "core/engine/denoiser.h"
#include "core/engine/noise_control.h"

namespace limpid::app {

/// Functions that plan_job() calls while it analyzes sources.
struct PlanningHooks {
  /// The number of the input's frames that have been analyzed and that are expected; false stops planning.
  std::function<bool(std::int64_t frames, std::int64_t expected)> progress;
  /// True to skip an input that cannot be opened.
  std::function<bool(const std::string& input, const std::exception& failure)> leaves_out;
};

/// Makes the plan of a job: estimates noise and detects scene cuts in the inputs with `engine`, and writes a
/// plan for each segment, then the plan of the job. `segment_frames`: approximate length of segments, which
/// end at scene cuts if possible. Returns false if it was stopped; other commands then do not accept the
/// folder as a job. Throws Error.
bool plan_job(const JobFolder& folder, const std::vector<std::string>& inputs, const JobSettings& settings,
              const NoiseSettings& noise, const std::shared_ptr<Engine>& engine, std::int64_t segment_frames,
              const PlanningHooks& hooks);

/// The ends of segments of about `length` frames, ascending; the last end is `frames`. Given are the first
/// frames of scenes, ascending.
std::vector<std::int64_t> ends_of_segments(std::int64_t frames, std::int64_t length,
                                           const std::vector<std::int64_t>& cuts);

}  // namespace limpid::app
