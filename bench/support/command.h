// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "app/options/command_line.h"

namespace limpid::benchmarks {

/// The return value of a table's main(): parses the arguments and calls `run`, or prints the help or the
/// error.
int run_command(app::CommandLine& command, int argc, char** argv, const std::function<void()>& run);

}  // namespace limpid::benchmarks
