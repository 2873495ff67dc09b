#pragma once

#include <functional>

#include "app/command_line.h"
#include "app/console.h"

namespace limpid::app {

/// What the program's exit code says; documented in --help.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

/// Runs the command that the arguments have asked for; returns the exit code or throws limpid::Error.
using Command = std::function<int(Console&)>;

/// Each adds one subcommand to `program`; parsing sets `selected` if the arguments name it.
void add_benchmark_command(CommandLine& program, Command& selected);
void add_compare_command(CommandLine& program, Command& selected);
void add_denoise_command(CommandLine& program, Command& selected);
void add_devices_command(CommandLine& program, Command& selected);
void add_matches_command(CommandLine& program, Command& selected);
void add_measure_command(CommandLine& program, Command& selected);
void add_preview_command(CommandLine& program, Command& selected);
void add_webcam_command(CommandLine& program, Command& selected);

}  // namespace limpid::app
