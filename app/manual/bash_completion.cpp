// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include "app/manual/manual.h"

namespace limpid::app {
namespace {

std::string compgen(const std::vector<std::string>& words) {
  return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(words, " "));
}

std::string filedir(const OptionText& option) {
  return option.files == Files::kFolder ? "_filedir -d"
         : option.ending.empty()        ? "_filedir"
                                        : "_filedir " + option.ending.substr(1);
}

/// Completion of the value of an option.
std::string bash_value(const OptionText& option) {
  std::string text = fmt::format("        {})\n", fmt::join(option.names, "|"));
  if (!option.words.empty()) {
    text += "          " + compgen(option.words) + "\n          __ltrim_colon_completions \"$cur\"\n";
  }
  if (option.files != Files::kNone) {
    text += "          " + filedir(option) + "\n";
  }
  return text + "          return\n          ;;\n";
}

std::string bash_case(const CommandText& command, const std::string& label) {
  std::vector<std::string> names;
  std::string values;
  std::string arguments;
  for (const OptionText& option : command.options) {
    if (option.is_argument) {
      arguments = option.files == Files::kNone ? arguments : filedir(option);
      continue;
    }
    names.insert(names.end(), option.names.begin(), option.names.end());
    values += option.value.empty() ? "" : bash_value(option);
  }
  std::vector<std::string> commands;
  for (const CommandText& subcommand : command.commands) {
    commands.push_back(subcommand.name);
  }
  std::string text = "    " + label + ")\n";
  text += fmt::format("      options='{}'\n", fmt::join(names, " "));
  if (!values.empty()) {
    text += "      case $prev in\n" + values + "      esac\n";
  }
  if (!commands.empty()) {
    text += fmt::format("      commands='{}'\n", fmt::join(commands, " "));
  }
  if (!arguments.empty()) {
    text += "      arguments='" + arguments + "'\n";
  }
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  std::string text = R"bash(# What bash-completion completes of limpid's command line.
_limpid() {
  local cur prev words cword split command= options= commands= arguments= i
  _init_completion -s -n : || return
  for ((i = 1; i < cword; ++i)); do
    if [[ ${words[i]} != -* ]]; then
      command=${words[i]}
      break
    fi
  done
  case $command in
)bash";
  text += bash_case(program, "''");
  for (const CommandText& command : program.commands) {
    text += bash_case(command, command.name);
  }
  return text + R"bash(  esac
  if [[ $split == true ]]; then
    return
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  else
    $arguments
  fi
} &&
  complete -F _limpid limpid
)bash";
}

}  // namespace limpid::app
