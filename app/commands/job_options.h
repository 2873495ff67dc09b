// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/commands/denoising_options.h"
#include "app/console/console.h"
#include "app/console/interrupt.h"
#include "app/console/logging.h"
#include "app/jobs/plan.h"
#include "app/options/command_line.h"
#include "core/engine/denoiser.h"

namespace limpid::app {

/// -q, --json and the log of commands that work on jobs.
struct JobMessageOptions {
  LoggingOptions logging;
  bool quiet = false;
  bool json = false;

  /// Adds the options to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command);
  void set_up(Console& console) const;
};

/// Default length of segments: ten seconds of a film.
inline constexpr std::int64_t kSegmentFrames = 250;

/// The settings of a job's plan, without those that depend on the machine of a worker.
JobSettings job_settings(const DenoisingOptions& options, const Engine& engine);

/// Shows on a terminal how many frames `what` has processed. Returns false after an interrupt.
std::function<bool(std::int64_t frames, std::int64_t expected)> frame_counter(
    Console& console, const JobMessageOptions& options, const InterruptWatch& interrupts, std::string what);

}  // namespace limpid::app
