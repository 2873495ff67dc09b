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

/// Makes the plan of a job: estimates noise and detects scene cuts in the inputs with `engine`, and writes
/// how each segment is to be done; the plan itself last. `segment_frames`: how long segments are, more or
/// less, as scenes are. False, with nothing that another command would take for a job, if it was stopped.
/// Throws Error.
bool plan_job(const JobFolder& folder, const std::vector<std::string>& inputs, const JobSettings& settings,
              const NoiseSettings& noise, const std::shared_ptr<Engine>& engine, std::int64_t segment_frames,
              const PlanningHooks& hooks);

/// Where segments of about `length` frames end, given before which frames scenes begin, in order; the last
/// is `frames`.
std::vector<std::int64_t> ends_of_segments(std::int64_t frames, std::int64_t length,
                                           const std::vector<std::int64_t>& cuts);

}  // namespace limpid::app
