// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid::app {

/// The program's alone.
std::string version();

/// The version of the program, its build options and the machine's features, in a few lines.
std::string version_text();

}  // namespace limpid::app
