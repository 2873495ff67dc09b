// SPDX-License-Identifier: MIT
#include "app/commands/job_options.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

#include "app/options/engine_options.h"
#include "app/options/logging_options.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {

void JobMessageOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Messages";
  command.add_flag("-q,--quiet", quiet, "Print errors only")->group(kGroup);
  command.add_flag("--json", json, "Print a report as JSON to standard output")->group(kGroup);
  add_logging_options(command, logging, kGroup);
  command.help_group(kGroup);
}

void JobMessageOptions::set_up(Console& console) const {
  LoggingOptions options = logging;
  if (quiet && options.level == LoggingOptions().level) {
    options.level = "error";
  }
  set_up_logging(console, options);
}

JobSettings job_settings(const DenoisingOptions& options, const Engine& engine) {
  JobSettings settings;
  const DenoisingSettings denoising = options.settings.settings();
  settings.filter = denoising.filter;
  settings.fields = denoising.fields;
  settings.reader = options.reader_options();
  settings.writer = options.writer_options();
  io::match_depths(settings.writer, settings.reader);
  settings.frames = options.frames;
  settings.noise = to_json(denoising.noise);
  // The number of threads changes the output of some encoders.
  settings.writer.encoder_threads = encoder_threads(engine);
  require_independent_frames(settings);
  return settings;
}

std::function<bool(std::int64_t frames, std::int64_t expected)> frame_counter(
    Console& console, const JobMessageOptions& options, const InterruptWatch& interrupts, std::string what) {
  const bool shown = console.is_terminal() && !options.quiet;
  return
      [&console, &interrupts, shown, what = std::move(what), last = std::chrono::steady_clock::time_point()](
          std::int64_t frames, std::int64_t expected) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (shown && now - last > std::chrono::milliseconds(500)) {
          last = now;
          console.set_status(fmt::format("{}: {}{} frames", what, frames,
                                         expected > 0 ? fmt::format(" of {}", expected) : ""));
        }
        return !interrupts.interrupted();
      };
}

}  // namespace limpid::app
