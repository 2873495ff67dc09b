// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/options/command_line.h"

// Manual pages and completions of shells, generated from the declarations of the command line. The output is
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
/// A function for zsh's $fpath, "_limpid".
std::string zsh_completion(const CommandText& program);
/// "limpid.fish".
std::string fish_completion(const CommandText& program);

/// `texts` joined by `between`.
std::string join(const std::vector<std::string>& texts, const std::string& between);
/// `text` with every `what` replaced.
std::string replaced(std::string text, const std::string& what, const std::string& by);
/// The beginning of an option's help, short enough for a menu.
std::string brief(const std::string& help);

}  // namespace limpid::app
