// SPDX-License-Identifier: MIT
#include "app/manual/manual.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace limpid::app {
namespace {

/// Text between macros: roff's own characters made plain ones, and dashes of options such that they can be
/// copied into a shell.
std::string roff_text(const std::string& text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    switch (text[i]) {
      case '\\':
        escaped += "\\e";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '-': {
        const bool of_option = before == ' ' || before == '-' || before == '[' || before == '(';
        escaped += of_option ? "\\-" : "-";
        break;
      }
      default:
        escaped += text[i];
    }
  }
  return escaped;
}

/// A name, in which every dash is one that is typed.
std::string roff_name(const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    escaped += c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

/// One line of text; a period at its beginning would be a macro's.
std::string roff_line(const std::string& line) { return (line.starts_with('.') ? "\\&" : "") + line + "\n"; }

/// A paragraph of roff in lines of at most 78 characters. Each sentence ends its line, as roff requires.
std::string in_lines(const std::string& paragraph) {
  constexpr std::size_t kWidth = 78;
  std::istringstream words(paragraph);
  std::string text;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      text += roff_line(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    if (word.ends_with('.') && !word.ends_with("...")) {
      text += roff_line(line);
      line.clear();
    }
  }
  return line.empty() ? text : text + roff_line(line);
}

std::string filled(const std::string& paragraph) { return in_lines(roff_text(paragraph)); }

/// A footer: paragraphs, and tables, whose lines stay as they are.
std::string notes(const std::string& footer) {
  std::string text;
  std::istringstream lines(footer);
  std::string paragraph;
  bool in_table = false;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) {
      text += (text.empty() ? "" : ".PP\n") + filled(paragraph);
      paragraph.clear();
    }
  };
  const auto set_table = [&](bool table) {
    if (table != in_table) {
      end_paragraph();
      text += table ? ".PP\n.nf\n" : ".fi\n";
      in_table = table;
    }
  };
  for (std::string line; std::getline(lines, line);) {
    set_table(line.starts_with("  "));
    if (in_table) {
      text += roff_line(roff_text(line.substr(2)));
    } else if (line.empty()) {
      end_paragraph();
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  set_table(false);
  return text;
}

std::string page_header(const std::string& name, const ManualFacts& facts) {
  std::string capitals;
  for (const char c : name) {
    capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return ".TH " + roff_name(capitals) + " 1 " + facts.date + " \"limpid " + facts.version + "\" \"Limpid\"\n";
}

std::string heading_of(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back("\\fB" + roff_name(name) + "\\fR");
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (!option.is_argument && !option.value.empty()) {
    text += " \\fI" + roff_name(option.value) + "\\fR";
  }
  return text;
}

std::string options_under(const CommandText& command, const std::string& group) {
  std::string text;
  for (const OptionText& option : command.options) {
    if (option.group == group) {
      text += ".TP\n" + heading_of(option) + "\n" +
              filled(option.help + (option.details.empty() ? "" : ". " + option.details));
      if (option.required && !option.is_argument) {
        text += "It must be given.\n";
      }
      if (option.many && !option.is_argument && option.help.find("may be repeated") == std::string::npos) {
        text += "It may be given several times.\n";
      }
    }
  }
  return text;
}

/// Headings in the order in which --help has them.
std::string options_of(const CommandText& command) {
  std::vector<std::string> groups;
  for (const OptionText& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += (groups.size() > 1 ? ".SS " + roff_text(group) + "\n" : "") + options_under(command, group);
  }
  return text;
}

std::string lower_first(std::string text) {
  // Except for acronyms such as PSNR.
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string synopsis_of(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    if (option.required && !option.is_argument) {
      text += " \\fB" + roff_name(option.names.front()) + "\\fR \\fI" + roff_name(option.value) + "\\fR";
    }
  }
  text += " [\\fIOPTION\\fR]...";
  for (const OptionText& option : command.options) {
    if (option.is_argument) {
      const std::string name = "\\fI" + option.names.front() + "\\fR" + (option.many ? "..." : "");
      text += option.required ? " " + name : " [" + name + "]";
    }
  }
  return text;
}

}  // namespace

std::string program_page(const CommandText& program, const ManualFacts& facts) {
  std::string page = page_header(program.name, facts);
  page += ".SH NAME\n" + program.name + " \\- " + roff_text(lower_first(facts.summary)) + "\n";
  page +=
      ".SH SYNOPSIS\n.B " + program.name + "\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n";
  page += ".SH DESCRIPTION\n" + filled(program.help);
  page += "Each command has a page of its own.\n.SH COMMANDS\n";
  std::vector<std::string> references;
  for (const CommandText& command : program.commands) {
    const std::string name = roff_name(program.name + "-" + command.name);
    page += ".TP\n.BR " + name + " (1)\n" + filled(command.help + ".");
    references.push_back(".BR " + name + " (1)");
  }
  page += ".SH OPTIONS\n" + options_of(program);
  page += ".SH EXIT STATUS\n" + filled(facts.exit_codes);
  return page + ".SH SEE ALSO\n" + fmt::format("{}\n", fmt::join(references, ",\n"));
}

std::string command_page(const CommandText& program, const CommandText& command, const ManualFacts& facts) {
  const std::string name = program.name + "-" + command.name;
  std::string page = page_header(name, facts);
  page += ".SH NAME\n" + in_lines(roff_name(name) + " \\- " + roff_text(lower_first(command.help)));
  page += ".SH SYNOPSIS\n.B " + program.name + " " + command.name + "\n" + in_lines(synopsis_of(command));
  page += ".SH DESCRIPTION\n" + filled(command.help + ".");
  CommandText arguments;
  CommandText options;
  for (const OptionText& option : command.options) {
    (option.is_argument ? arguments : options).options.push_back(option);
  }
  page += options_of(arguments);
  page += ".SH OPTIONS\n" + options_of(options);
  if (!command.examples.empty()) {
    page += ".SH EXAMPLES\n.nf\n";
    for (const std::string& example : command.examples) {
      page += roff_line(roff_name(example));
    }
    page += ".fi\n";
  }
  if (!command.footer.empty()) {
    page += ".SH NOTES\n" + notes(command.footer);
  }
  page += ".SH EXIT STATUS\n" + filled(facts.exit_codes);
  return page + ".SH SEE ALSO\n.BR " + program.name + " (1)\n";
}

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
