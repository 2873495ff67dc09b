#pragma once

#include <string>
#include <vector>

#include "app/options/command_line.h"

// Manual pages and what shells need to complete command lines, written from the command line as it is
// declared: what an option is called, takes and does is told once. The same declarations give the same bytes.

namespace limpid::app {

struct ManualFacts {
  std::string version;
  std::string date;        ///< of the version: 2026-11-23
  std::string summary;     ///< what the program is, in a line
  std::string exit_codes;  ///< a paragraph
};

/// The page of `program`, "limpid.1".
std::string program_page(const CommandText& program, const ManualFacts& facts);
/// The page of one of its commands, "limpid-denoise.1".
std::string command_page(const CommandText& program, const CommandText& command, const ManualFacts& facts);

/// For bash-completion, under the program's name.
std::string bash_completion(const CommandText& program);
/// A function for zsh's $fpath, "_limpid".
std::string zsh_completion(const CommandText& program);
/// "limpid.fish".
std::string fish_completion(const CommandText& program);

/// `texts` with `between` them.
std::string join(const std::vector<std::string>& texts, const std::string& between);
/// Every `what` of `text` replaced.
std::string replaced(std::string text, const std::string& what, const std::string& by);
/// What an option does in a few words, for a line of a menu: its help up to where that goes into details.
std::string brief(const std::string& help);

}  // namespace limpid::app
