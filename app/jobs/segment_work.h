#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/jobs/plan.h"
#include "core/engine/denoiser.h"

namespace limpid::app {

/// Thrown when a stop was asked for: nothing of the segment is left.
struct Stopped {};

/// Denoises a segment: its file and then the file that says that it is done are there afterwards, whole, or
/// nothing is. Throws Error, and Stopped.
DoneSegment do_segment(const JobFolder& folder, const Plan& plan, int number,
                       const std::shared_ptr<Engine>& engine, const std::stop_token& stop);

}  // namespace limpid::app
