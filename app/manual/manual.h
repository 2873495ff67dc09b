// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"

// Manual pages and completions of bash, generated from the declarations of the command line. The output is
// deterministic.

namespace limpid::app {

struct ManualFacts {
  std::string version;
  std::string date;        ///< date of the version, such as 2026-11-23
  std::string summary;     ///< purpose of the program, in one line
  std::string exit_codes;  ///< a paragraph
};

/// The manual page of the program, such as "limpid.1".
std::string program_page(const CommandText& program, const ManualFacts& facts);
/// The manual page of a command, such as "limpid-denoise.1".
std::string command_page(const CommandText& program, const CommandText& command, const ManualFacts& facts);

/// Completions for bash, in a file with the program's name.
std::string bash_completion(const CommandText& program);

}  // namespace limpid::app
