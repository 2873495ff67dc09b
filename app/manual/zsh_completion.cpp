// SPDX-License-Identifier: MIT
#include "app/console/shell_text.h"
#include "app/manual/manual.h"

namespace limpid::app {
namespace {

std::string zsh_words(const std::vector<std::string>& words) {
  return replaced(join(words, " "), ":", "\\:");
}

/// ":VALUE:what completes it".
std::string zsh_value(const OptionText& option) {
  const std::string pattern = "\"*" + option.ending + "\"";
  std::string text =
      ":" + replaced(option.value.empty() ? option.names.front() : option.value, ":", "\\:") + ":";
  if (!option.words.empty() && option.files != Files::kNone) {
    return text + " _limpid_word_or_file " + pattern + " " + zsh_words(option.words);
  }
  if (!option.words.empty()) {
    return text + "(" + zsh_words(option.words) + ")";
  }
  switch (option.files) {
    case Files::kNone:
      return text + " ";
    case Files::kFolder:
      return text + "_files -/";
    case Files::kFile:
      return text + (option.ending.empty() ? "_files" : "_files -g " + pattern);
  }
  return text;
}

std::string zsh_option(const OptionText& option) {
  if (option.is_argument) {
    return shell_quoted((option.many ? "*" : "") + zsh_value(option));
  }
  const std::string help = replaced(replaced(brief(option.help), "[", "\\["), "]", "\\]");
  std::vector<std::string> forms;
  for (const std::string& name : option.names) {
    forms.push_back(name + (option.value.empty() ? "" : name.starts_with("--") ? "=" : "+"));
  }
  const std::string excluded = option.many ? "*" : "(" + join(option.names, " ") + ")";
  const std::string form = forms.size() > 1 ? "{" + join(forms, ",") + "}" : forms.front();
  return shell_quoted(excluded) + form +
         shell_quoted("[" + help + "]" + (option.value.empty() ? "" : zsh_value(option)));
}

}  // namespace

std::string zsh_completion(const CommandText& program) {
  std::string text = R"zsh(#compdef limpid
# What zsh completes of limpid's command line.

_limpid_word_or_file() {
  local pattern=$1
  shift
  _alternative "words:word:($*)" "files:file:_files -g '$pattern'"
}

_limpid() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands=(
)zsh";
  for (const CommandText& command : program.commands) {
    text += "    " + shell_quoted(command.name + ":" + brief(command.help)) + "\n";
  }
  text += "  )\n  _arguments -C -S \\\n";
  for (const OptionText& option : program.options) {
    text += "    " + zsh_option(option) + " \\\n";
  }
  text += R"(    '1:command:->command' \
    '*::argument:->arguments'
  case $state in
    command) _describe -t commands command commands ;;
    arguments)
      case $line[1] in
)";
  for (const CommandText& command : program.commands) {
    text += "        " + command.name + ")\n          _arguments -S";
    for (const OptionText& option : command.options) {
      text += " \\\n            " + zsh_option(option);
    }
    text += "\n          ;;\n";
  }
  return text + R"(      esac
      ;;
  esac
}

_limpid "$@"
)";
}

}  // namespace limpid::app
