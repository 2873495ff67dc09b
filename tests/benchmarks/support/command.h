#pragma once

#include <functional>

#include "app/options/command_line.h"

namespace limpid::benchmarks {

/// What main() of a table returns: reads the arguments and calls `run`, or prints the help, or what is wrong.
int run_command(app::CommandLine& command, int argc, char** argv, const std::function<void()>& run);

}  // namespace limpid::benchmarks
