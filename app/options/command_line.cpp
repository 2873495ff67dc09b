// SPDX-License-Identifier: MIT
#include "app/options/command_line.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>
#include <type_traits>
#include <vector>

#include "app/options/arguments.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace limpid::app {
namespace {

template <typename Number>
std::optional<Number> parse(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// The complaint about a value that is not a number from `least` to `most`; empty for legal ones.
template <typename Number>
std::string out_of_range(const std::string& text, Number least, Number most, const std::string& expected) {
  const std::optional<Number> number = parse<Number>(text);
  return number && *number >= least && *number <= most ? "" : fmt::format("'{}' is not {}", text, expected);
}

/// Each sets `value` to the last of the values or to all, and returns a complaint or an empty text.
std::string store(const std::vector<std::string>& values, std::string& value) {
  value = values.back();
  return "";
}
std::string store(const std::vector<std::string>& values, std::filesystem::path& value) {
  value = values.back();
  return "";
}
std::string store(const std::vector<std::string>& values, std::vector<std::string>& value) {
  value = values;
  return "";
}
std::string store(const std::vector<std::string>& /*values*/, bool& value) {
  value = true;
  return "";
}
template <typename Number>
std::string store(const std::vector<std::string>& values, Number& value) {
  const std::optional<Number> number = parse<Number>(values.back());
  value = number.value_or(value);
  return number ? ""
                : fmt::format("'{}' is not a {}", values.back(),
                              std::is_integral_v<Number> ? "whole number" : "number");
}
template <typename Item>
std::string store(const std::vector<std::string>& values, std::optional<Item>& value) {
  return store(values, value.emplace());
}
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

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

Option* Option::one_of(const std::vector<std::string>& values) {
  return words(values)->check([values](const std::string& text) {
    const bool legal = std::ranges::find(values, text) != values.end();
    return legal ? "" : fmt::format("'{}' is not one of {}", text, fmt::join(values, ", "));
  });
}

Option* Option::in_range(int least, int most) {
  return check([least, most](const std::string& text) {
    return out_of_range(text, least, most, fmt::format("a whole number from {} to {}", least, most));
  });
}

Option* Option::in_range(double least, double most) {
  return check([least, most](const std::string& text) {
    return out_of_range(text, least, most, fmt::format("a number from {} to {}", least, most));
  });
}

Option* Option::positive() {
  return check([](const std::string& text) {
    return out_of_range<std::int64_t>(text, 1, kMostNumber, "a whole number from 1 on");
  });
}

Option* Option::not_negative() {
  return check([](const std::string& text) {
    return out_of_range<std::int64_t>(text, 0, kMostNumber, "a whole number from 0 on");
  });
}

Option* Option::words(const std::vector<std::string>& words) {
  text_.words.insert(text_.words.end(), words.begin(), words.end());
  return this;
}

Option* Option::file(const std::string& ending) {
  text_.ending = ending;
  return set(text_.files, Files::kFile);
}

void Option::take(std::vector<std::string> values) const {
  const auto require = [this](const std::string& complaint) {
    if (!complaint.empty()) {
      throw UsageError(name() + ": " + complaint);
    }
  };
  for (std::string& value : values) {
    if (any_case_) {
      std::ranges::transform(value, value.begin(),
                             [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    }
    require(check_ ? check_(value) : "");
  }
  require(store_(values));
}

template <typename Value>
Option* CommandLine::add_option(const std::string& names, Value& value, const std::string& help) {
  OptionText text;
  for (std::size_t begin = 0; begin < names.size(); begin += text.names.back().size() + 1) {
    text.names.push_back(names.substr(begin, names.find(',', begin) - begin));
  }
  text.is_argument = !names.starts_with('-');
  text.value = "VALUE";
  text.many = std::is_same_v<Value, std::vector<std::string>>;
  text.help = help;
  return &options_.emplace_back(
      std::move(text), [&value](const std::vector<std::string>& values) { return store(values, value); });
}

Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return add_option(names, value, help)->type_name("");
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  return subcommands_.emplace_back(std::make_unique<CommandLine>(description, name)).get();
}

std::vector<CommandLine*> CommandLine::get_subcommands() const {
  std::vector<CommandLine*> subcommands;
  for (const auto& subcommand : subcommands_) {
    subcommands.push_back(subcommand.get());
  }
  return subcommands;
}

CommandText CommandLine::text() const {
  CommandText text{name_, description_, footer_, examples_, {}, {}, group_};
  for (const Option& option : options_) {
    text.options.push_back(option.text());
  }
  const bool layered = std::ranges::any_of(
      text.options, [](const OptionText& option) { return option.advanced || !option.details.empty(); });
  const auto add = [&](std::vector<std::string> names, const char* help, const std::string& group) {
    OptionText& added = text.options.emplace_back();
    added.names = std::move(names);
    added.help = help;
    added.group = group;
  };
  add({"-h", "--help"}, "Print this help and exit", help_group_);
  if (layered) {
    add({"--help-all"}, "Print the help of all options and exit", help_group_);
  }
  if (!version_.empty()) {
    add({"-V", "--version"}, "Print the versions of the program and its libraries and exit", "Options");
  }
  for (const auto& subcommand : subcommands_) {
    text.commands.push_back(subcommand->text());
  }
  return text;
}

void CommandLine::explain_missing_command(const std::vector<std::string>& arguments) const {
  const auto word =
      std::ranges::find_if(arguments, [](const std::string& argument) { return !argument.starts_with('-'); });
  const std::string hint = "; " + name_ + " --help lists the commands";
  if (word == arguments.end()) {
    throw UsageError(fmt::format("the command is missing{}", hint));
  }
  std::vector<std::string> names;
  for (const auto& command : subcommands_) {
    names.push_back(command->name_);
  }
  if (std::ranges::find(names, *word) != names.end()) {
    throw UsageError(fmt::format("options follow the command: {} {} {}", name_, *word, arguments.front()));
  }
  if (std::error_code ignored; std::filesystem::exists(*word, ignored)) {
    std::vector<std::string> rest = arguments;
    std::erase(rest, "-i");
    throw UsageError(
        fmt::format("the command is missing; perhaps: {} {} {}", name_, names.front(), fmt::join(rest, " ")));
  }
  if (word->find_first_of("./") != std::string::npos) {
    throw UsageError(fmt::format("{}: no such file; {} {} FILE denoises a video or picture{}", *word, name_,
                                 names.front(), hint));
  }
  const std::string advice = foreign_advice(*word);
  const std::string meant = did_you_mean(*word, names);
  throw UsageError(fmt::format("there is no command '{}'{}", *word,
                               !advice.empty() ? "; " + advice
                               : meant.empty() ? hint
                                               : meant));
}

std::optional<std::string> CommandLine::parse_own(const std::vector<std::string>& arguments,
                                                  const std::string& program) {
  const CommandText own = text();
  given_ = read_arguments(arguments, own, program);
  const auto& values = given_.values;
  if (values.contains("--help") || values.contains("--help-all")) {
    return help_text(own, program, values.contains("--help-all"));
  }
  if (values.contains("--version")) {
    return version_ + "\n";
  }
  if (given_.surplus) {
    throw UsageError(
        fmt::format("'{}' is one argument too many: {}", *given_.surplus, usage_line(own, program)));
  }
  for (const Option& option : options_) {
    if (const auto found = values.find(option.name()); found != values.end()) {
      option.take(found->second);
    } else if (option.text().required) {
      throw UsageError(fmt::format("{} is missing: {}", option.name(), usage_line(own, program)));
    }
  }
  if (callback_) {
    callback_();
  }
  return std::nullopt;
}

std::optional<std::string> CommandLine::parse(std::vector<std::string> arguments) {
  chosen_ = this;
  if (subcommands_.empty()) {
    return parse_own(arguments, "");
  }
  if (!arguments.empty() && arguments.front() == "help") {
    arguments = arguments.size() > 1 ? std::vector<std::string>{arguments[1], "--help"}
                                     : std::vector<std::string>{"--help"};
  }
  const std::string first = arguments.empty() ? "" : arguments.front();
  const auto command =
      std::ranges::find_if(subcommands_, [&](const auto& each) { return each->name_ == first; });
  if (command != subcommands_.end()) {
    chosen_ = command->get();
    return (*command)->parse_own({arguments.begin() + 1, arguments.end()}, name_);
  }
  for (const OptionText& option : text().options) {
    if (first == "--help-all" || std::ranges::find(option.names, first) != option.names.end()) {
      return parse_own({first}, "");
    }
  }
  explain_missing_command(arguments);
}

using Text = const std::string&;
template Option* CommandLine::add_option(Text, std::string&, Text);
template Option* CommandLine::add_option(Text, std::optional<std::string>&, Text);
template Option* CommandLine::add_option(Text, std::vector<std::string>&, Text);
template Option* CommandLine::add_option(Text, std::filesystem::path&, Text);
template Option* CommandLine::add_option(Text, int&, Text);
template Option* CommandLine::add_option(Text, std::optional<int>&, Text);
template Option* CommandLine::add_option(Text, std::int64_t&, Text);
template Option* CommandLine::add_option(Text, float&, Text);
template Option* CommandLine::add_option(Text, std::optional<float>&, Text);
template Option* CommandLine::add_option(Text, double&, Text);

std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& option,
                                                             const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format("{}: '{}' is not of the form key=value", option, text));
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

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
  std::string group;
  for (const CommandText& each : command.commands) {
    text += each.group == group ? "" : "\n" + each.group + ":\n";
    group = each.group;
    text += row(each.name, each.help);
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
