// SPDX-License-Identifier: MIT
#include "app/options/help.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace limpid::app {
namespace {

constexpr std::size_t kHelpColumn = 27;

/// A name and a text beside it, or below it if the name is too long.
std::string row(const std::string& name, const std::string& help) {
  std::string line = "  " + name;
  if (line.size() + 2 > kHelpColumn) {
    line += "\n" + std::string(kHelpColumn, ' ');
  } else {
    line.resize(kHelpColumn, ' ');
  }
  return line + wrapped(help, kHelpColumn, kHelpColumn) + "\n";
}

std::string name_of(const OptionText& option) {
  std::string name;
  for (const std::string& each : option.names) {
    name += (name.empty() ? "" : ", ") + each;
  }
  return option.value.empty() || option.is_argument ? name : name + " " + option.value;
}

std::string options_of(const CommandText& command, bool all) {
  std::vector<std::string> groups;
  for (const OptionText& option : command.options) {
    if (!option.is_argument && std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    std::string rows;
    for (const OptionText& option : command.options) {
      if (!option.is_argument && option.group == group && (all || !option.advanced)) {
        const bool details = all && !option.details.empty();
        rows += row(name_of(option), option.help + (details ? ". " + option.details : ""));
      }
    }
    if (!rows.empty()) {
      text.append("\n").append(group).append(":\n").append(rows);
    }
  }
  return text;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t first, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = first;
  bool begins = true;
  for (std::string word; words >> word; begins = false) {
    if (!begins && column + 1 + word.size() > kHelpWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
      begins = true;
    }
    result += (begins ? "" : " ") + word;
    column += word.size() + (begins ? 0 : 1);
  }
  return result;
}

std::string usage_line(const CommandText& command, const std::string& program) {
  std::string text = program.empty() ? "" : program + " ";
  text += command.name;
  if (!command.commands.empty()) {
    return text + " COMMAND [OPTION]... [ARGUMENT]...";
  }
  text += " [OPTION]...";
  for (const OptionText& option : command.options) {
    if (option.is_argument) {
      const std::string name = option.names.front() + (option.many ? "..." : "");
      text += option.required ? " " + name : " [" + name + "]";
    } else if (option.required) {
      text += " " + option.names.front() + " " + option.value;
    }
  }
  return text;
}

std::string help_text(const CommandText& command, const std::string& program, bool all) {
  std::string text = command.help + (command.help.ends_with('.') ? "" : ".") + "\n\n";
  text += "Usage: " + usage_line(command, program) + "\n";
  std::string arguments;
  for (const OptionText& option : command.options) {
    arguments += option.is_argument ? row(option.names.front(), option.help) : "";
  }
  text += arguments.empty() ? "" : "\n" + arguments;
  if (!command.commands.empty()) {
    text += "\nCommands:\n";
    for (const CommandText& each : command.commands) {
      text += row(each.name, each.help);
    }
  }
  text += options_of(command, all);
  for (const std::string& example : command.examples) {
    text += (&example == &command.examples.front() ? "\nExamples:\n  " : "  ") + example + "\n";
  }
  std::istringstream footer(command.footer);
  for (std::string line; std::getline(footer, line);) {
    // Indented lines are tables.
    text += "\n" + (line.starts_with(' ') ? line : wrapped(line, 0, 0));
  }
  return text + (command.footer.empty() ? "" : "\n");
}

}  // namespace limpid::app
