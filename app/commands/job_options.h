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

  /// As InputOptions::add_to().
  void add_to(CommandLine& command);
  void set_up(Console& console) const;
};

/// Of segments, more or less, unless asked otherwise: ten seconds of a film.
inline constexpr std::int64_t kSegmentFrames = 250;

/// What options ask for, for a job's plan; with what doesn't depend on the machine that does a segment.
JobSettings job_settings(const DenoisingOptions& options, const Engine& engine);

/// Shows on a terminal how many frames `what` has done; says no once an interrupt has come.
std::function<bool(std::int64_t frames, std::int64_t expected)> frame_counter(
    Console& console, const JobMessageOptions& options, const InterruptWatch& interrupts, std::string what);

}  // namespace limpid::app
