// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "app/commands/command.h"

namespace limpid::app {

/// A paragraph about the exit codes, for the end of the help of the program and of each command.
extern const char* const kExitCodes;

/// The command line with all commands.
std::unique_ptr<CommandLine> make_program();

}  // namespace limpid::app
