#pragma once

#include <memory>

#include "app/commands/command.h"

namespace limpid::app {

/// What exit codes say, in a paragraph; the program's help and every command's ends with it.
extern const char* const kExitCodes;

/// limpid's command line with all its commands: parsing it sets `selected` to the one that the arguments
/// name.
std::unique_ptr<CommandLine> make_program(Command& selected);

}  // namespace limpid::app
