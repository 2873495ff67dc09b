// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

// The part of CLI11 that the commands use, under its names but without its header, which adds ten seconds to
// the compilation of every file that includes it.

namespace limpid::app {

/// Kind of file that a value names.
enum class Files : std::uint8_t { kNone, kFile, kFolder };

/// Texts of an option for help, manuals and completions.
struct OptionText {
  /// Names with dashes, short ones first; for a positional argument, its name.
  std::vector<std::string> names;
  bool is_argument = false;  ///< positional
  bool advanced = false;     ///< listed by --help-all only
  bool required = false;
  bool many = false;  ///< may be repeated
  std::string value;  ///< placeholder of the value in help; empty: a flag
  std::string help;
  std::string details;  ///< sentences that follow `help` in --help-all and manuals
  std::string group;
  std::vector<std::string> words;  ///< values that completions offer; others may be legal
  Files files = Files::kNone;
  std::string ending;  ///< extension of the files that completions offer; empty: any
};

/// A program or one of its commands.
struct CommandText {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<std::string> examples = {};  ///< command lines
  std::vector<OptionText> options;
  std::vector<CommandText> commands;
};

/// An option or flag of a command. The setters return the option, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// Placeholder of the value in help.
  Option* type_name(const std::string& name);
  /// Heading of the option in help.
  Option* group(const std::string& name);
  /// Lists the option in --help-all only.
  Option* advanced();
  /// Sentences that follow the help in --help-all and manuals.
  Option* details(const std::string& text);
  Option* required();
  /// The option may be repeated; all values are kept.
  Option* take_all();
  /// Separator of several values in one argument.
  Option* delimiter(char delimiter);
  /// Lets an option with several values take all following arguments, up to the next option.
  Option* allow_extra_args(bool allow);
  /// Restricts the values to these.
  Option* one_of(std::initializer_list<int> values);
  Option* one_of(std::initializer_list<const char*> values);
  /// Restricts the values to integers, or numbers, from `least` to `most`.
  Option* in_range(int least, int most);
  Option* in_range(double least, double most);
  /// Restricts the values to integers > 0, or >= 0.
  Option* positive();
  Option* not_negative();
  /// Rejects a value if `complaint` returns a text for it, and reports this text.
  Option* check(const std::function<std::string(const std::string& value)>& complaint);

  /// Ignores case.
  Option* any_case();

  /// Values that completions offer in addition to those of one_of(): words, files with an extension, folders.
  Option* words(const std::vector<std::string>& words);
  Option* file(const std::string& ending = {});
  Option* folder();

  OptionText text() const;
  bool is(const CLI::Option& option) const { return option_ == &option; }

 private:
  CLI::Option* option_;
  std::vector<std::string> words_;
  Files files_ = Files::kNone;
  std::string ending_;
  bool advanced_ = false;
  std::string details_;
};

/// The options, flags and subcommands of a program or command. Keeps references to the variables that they
/// set.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description = {}, const std::string& name = {});
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  CommandLine(CommandLine&&) = delete;
  CommandLine& operator=(CommandLine&&) = delete;
  ~CommandLine();

  /// `names`: "-o,--output", or a name without dashes for a positional argument. Values are texts, paths,
  /// numbers, and optionals and vectors of them, as instantiated at the end of command_line.cpp.
  template <typename Value>
  Option* add_option(const std::string& names, Value& value, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  /// Adds a flag that prints `text` and exits.
  void set_version_flag(const std::string& names, const std::string& text);
  CommandLine* add_subcommand(const std::string& name, const std::string& description);

  std::vector<CommandLine*> get_subcommands() const;
  /// The texts of all options; --help, --help-all and --version come last.
  CommandText text() const;

  /// Heading of --help and --help-all; "Options" by default.
  void help_group(const std::string& name);
  /// Text at the end of the help.
  void footer(const std::string& text);
  std::string get_footer() const;
  /// Command lines for the end of the help and for manuals.
  void examples(const std::vector<std::string>& lines) { examples_ = lines; }
  /// Function that parse() calls when the arguments name this command.
  void callback(const std::function<void()>& function);

  /// `arguments`: without the name of the program. Returns the text to print if the arguments contain --help
  /// or --version. Throws UsageError, which suggests a name for an unknown option. If an option is repeated,
  /// the last value is used.
  std::optional<std::string> parse(std::vector<std::string> arguments);
  /// Warnings about the arguments of the last parse().
  const std::vector<std::string>& warnings() const;
  /// True if the arguments contain the option, for this command or the chosen one.
  bool is_given(const std::string& option) const;

 private:
  explicit CommandLine(CLI::App& subcommand);
  [[noreturn]] void explain_unexpected(const std::vector<std::string>& arguments) const;
  [[noreturn]] void explain_missing() const;
  /// The command that the arguments chose, or this.
  const CommandLine& chosen() const;
  /// The name of the program for texts about `command`.
  std::string program_of(const CommandLine& command) const;
  std::string usage() const;
  std::string help(bool all) const;
  /// Makes the checks of check_arguments().
  void check(const std::vector<std::string>& arguments);

  std::unique_ptr<CLI::App> own_;  ///< nothing for a subcommand
  CLI::App& app_;
  std::deque<Option> options_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  std::vector<std::string> warnings_;
  std::vector<std::string> examples_;
};

/// Splits texts of the form KEY=VALUE. Throws UsageError that names `option` for other texts.
std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& option,
                                                             const std::vector<std::string>& texts);

}  // namespace limpid::app
