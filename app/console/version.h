#pragma once

#include <string>

namespace limpid::app {

/// The program's alone.
std::string version();

/// The program's version and what it was built with and runs on, in a few lines.
std::string version_text();

}  // namespace limpid::app
