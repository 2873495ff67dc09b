// SPDX-License-Identifier: MIT
#include "app/manual/manual.h"

namespace limpid::app {
namespace {

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_value(const OptionText& option) {
  std::string text;
  std::vector<std::string> words = option.words;
  switch (option.files) {
    case Files::kNone:
      text = " -x";
      break;
    case Files::kFolder:
      text = " -x";
      words.emplace_back("(__fish_complete_directories)");
      break;
    case Files::kFile:
      text = option.ending.empty() ? " -r -F" : " -x -k";
      if (!option.ending.empty()) {
        words.push_back("(__fish_complete_suffix " + option.ending + ")");
      }
      break;
  }
  return words.empty() ? text : text + " -a " + fish_quoted(join(words, " "));
}

/// The lines of a program's or command's options, for where `condition` holds.
std::string fish_options(const CommandText& command, const std::string& condition) {
  std::string text;
  bool takes_files = false;
  for (const OptionText& option : command.options) {
    if (option.is_argument) {
      takes_files = takes_files || option.files != Files::kNone;
      continue;
    }
    text += "complete -c limpid -n " + condition;
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    text +=
        (option.value.empty() ? "" : fish_value(option)) + " -d " + fish_quoted(brief(option.help)) + "\n";
  }
  return (takes_files ? "" : "complete -c limpid -n " + condition + " -f\n") + text;
}

}  // namespace

std::string fish_completion(const CommandText& program) {
  std::string text = "# Completions of limpid for fish.\n";
  text += fish_options(program, "__fish_use_subcommand");
  for (const CommandText& command : program.commands) {
    text += "complete -c limpid -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_quoted(brief(command.help)) + "\n";
  }
  for (const CommandText& command : program.commands) {
    text += fish_options(command, fish_quoted("__fish_seen_subcommand_from " + command.name));
  }
  return text;
}

}  // namespace limpid::app
