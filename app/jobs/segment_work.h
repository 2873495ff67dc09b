// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/jobs/plan.h"
#include "core/engine/denoiser.h"

namespace limpid::app {

/// Thrown after a requested stop. No file of the segment remains.
struct Stopped {};

/// Denoises a segment: writes its file, then the file that marks it as done. Both are complete, or neither
/// exists. Throws Error and Stopped.
DoneSegment do_segment(const JobFolder& folder, const Plan& plan, int number,
                       const std::shared_ptr<Engine>& engine, const std::stop_token& stop);

}  // namespace limpid::app
