// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "app/console/console.h"
#include "app/options/command_line.h"

namespace limpid::app {

/// Each function adds one command to `program`, which CommandLine::run() runs.
void add_benchmark_command(CommandLine& program);
void add_compare_command(CommandLine& program);
void add_denoise_command(CommandLine& program);
void add_devices_command(CommandLine& program);
void add_filters_command(CommandLine& program);
void add_measure_command(CommandLine& program);
void add_merge_command(CommandLine& program);
void add_noise_command(CommandLine& program);
void add_plan_command(CommandLine& program);
void add_preview_command(CommandLine& program);
void add_status_command(CommandLine& program);
void add_webcam_command(CommandLine& program);
void add_work_command(CommandLine& program);

/// A paragraph about the exit codes, for the end of the help of the program and of each command.
extern const char* const kExitCodes;

/// The command line with all commands.
std::unique_ptr<CommandLine> make_program();

}  // namespace limpid::app
