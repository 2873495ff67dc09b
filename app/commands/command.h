// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "app/console/console.h"
#include "app/options/command_line.h"

namespace limpid::app {

/// Function that runs the command given on the command line. Returns the exit code or throws limpid::Error.
using Command = std::function<int(Console&)>;

/// Each function adds one command to `program`. Parsing sets `selected` if the arguments name the command.
void add_benchmark_command(CommandLine& program, Command& selected);
void add_compare_command(CommandLine& program, Command& selected);
void add_denoise_command(CommandLine& program, Command& selected);
void add_devices_command(CommandLine& program, Command& selected);
void add_filters_command(CommandLine& program, Command& selected);
void add_measure_command(CommandLine& program, Command& selected);
void add_merge_command(CommandLine& program, Command& selected);
void add_noise_command(CommandLine& program, Command& selected);
void add_plan_command(CommandLine& program, Command& selected);
void add_preview_command(CommandLine& program, Command& selected);
void add_status_command(CommandLine& program, Command& selected);
void add_webcam_command(CommandLine& program, Command& selected);
void add_work_command(CommandLine& program, Command& selected);

}  // namespace limpid::app
