// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/not_copyable.h"

namespace limpid::app {

class Console;

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
  std::string group = "Options";
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
  std::string group = {};  ///< heading of the command in the help of its program
};

/// An option or flag of a command. The setters return the option, so that calls can be chained.
class Option {
 public:
  /// Sets a variable. Returns a complaint about the values, or an empty text.
  using Store = std::function<std::string(const std::vector<std::string>& values)>;

  Option(OptionText text, Store store) : text_(std::move(text)), store_(std::move(store)) {}

  /// Placeholder of the value in help.
  Option* type_name(const std::string& name) { return set(text_.value, name); }
  /// Lists the option in --help-all only.
  Option* advanced() { return set(text_.advanced, true); }
  /// Sentences that follow the help in --help-all and manuals.
  Option* details(const std::string& text) { return set(text_.details, text); }
  Option* required() { return set(text_.required, true); }
  /// Restricts the values to these.
  Option* one_of(const std::vector<std::string>& values);
  /// Restricts the values to integers, or numbers, from `least` to `most`.
  Option* in_range(int least, int most);
  Option* in_range(double least, double most);
  /// Restricts the values to integers > 0, or >= 0.
  Option* positive();
  Option* not_negative();
  /// Ignores case.
  Option* any_case() { return set(any_case_, true); }

  /// Values that completions offer in addition to those of one_of(): words, files with an extension, folders.
  Option* words(const std::vector<std::string>& words);
  Option* file(const std::string& ending = {});
  Option* folder() { return set(text_.files, Files::kFolder); }

  const OptionText& text() const { return text_; }
  /// The name in messages: the long one.
  const std::string& name() const { return text_.names.back(); }
  /// Checks and stores the values, of which there is at least one. Throws UsageError for illegal ones.
  void take(std::vector<std::string> values) const;

 private:
  /// Returns a complaint about the value, or an empty text.
  using Check = std::function<std::string(const std::string& value)>;

  Option* check(const Check& check) { return set(check_, check); }
  template <typename Field>
  Option* set(Field& field, const Field& value) {
    field = value;
    return this;
  }

  OptionText text_;
  Store store_;
  Check check_;
  bool any_case_ = false;
};

/// The arguments of a command by option: the long name, or the name of a positional argument. Flags have
/// empty values.
struct GivenArguments {
  std::map<std::string, std::vector<std::string>> values;
  std::optional<std::string> surplus;  ///< the first argument that no positional one takes
  std::vector<std::string> warnings;
};

/// The options, flags and subcommands of a program or command. Keeps references to the variables that they
/// set.
class CommandLine : NotCopyable {
 public:
  explicit CommandLine(std::string description = {}, std::string name = {})
      : description_(std::move(description)), name_(std::move(name)) {}
  ~CommandLine() = default;

  /// Heading in help of the options that are added from now on; "Options" by default.
  void begin_group(const std::string& name) { option_group_ = name; }
  /// `names`: "-o,--output", or a name without dashes for a positional argument. Values are texts, paths,
  /// numbers, and optionals of them, and vectors of texts, whose options may be repeated.
  template <typename Value>
  Option* add_option(const std::string& names, Value& value, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  /// Adds a flag that prints `text` and exits.
  void set_version_flag(const std::string& text) { version_ = text; }
  CommandLine* add_subcommand(const std::string& name, const std::string& description);

  std::vector<CommandLine*> get_subcommands() const;
  /// The texts of all options; --help, --help-all and --version come last.
  CommandText text() const;

  /// Heading of --help and --help-all; "Options" by default.
  void help_group(const std::string& name) { help_group_ = name; }
  /// Text at the end of the help.
  void footer(const std::string& text) { footer_ = text; }
  const std::string& get_footer() const { return footer_; }
  /// Command lines for the end of the help and for manuals.
  void examples(const std::vector<std::string>& lines) { examples_ = lines; }
  /// Heading of the command in the help of its program.
  void group(const std::string& name) { group_ = name; }
  /// Function that run() calls when the arguments name this command. It returns the exit code, or throws
  /// Error.
  void callback(std::function<int(Console&)> function) { callback_ = std::move(function); }

  /// `arguments`: without the name of the program. Returns the text to print if the arguments contain --help
  /// or --version. Throws UsageError, which suggests a name for an unknown option. If an option is repeated,
  /// the last value is used.
  std::optional<std::string> parse(std::vector<std::string> arguments);
  /// True if the arguments of the last parse() name a command.
  bool has_command() const { return static_cast<bool>(chosen_->callback_); }
  int run(Console& console) const { return chosen_->callback_(console); }
  /// Warnings about the arguments of the last parse().
  const std::vector<std::string>& warnings() const { return chosen_->given_.warnings; }
  /// True if the arguments contain the option, for this command or the chosen one.
  bool is_given(const std::string& option) const { return chosen_->given_.values.contains(option); }

 private:
  /// Parses arguments of this command. `program`: the name of the program that has it, or empty.
  std::optional<std::string> parse_own(const std::vector<std::string>& arguments, const std::string& program);
  [[noreturn]] void explain_missing_command(const std::vector<std::string>& arguments) const;

  std::string description_;
  std::string name_;
  std::string footer_;
  std::string option_group_ = "Options";
  std::string help_group_ = "Options";
  std::string version_;
  std::vector<std::string> examples_;
  std::string group_;
  std::function<int(Console&)> callback_;
  std::deque<Option> options_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  GivenArguments given_;
  const CommandLine* chosen_ = this;  ///< the command that the arguments name, or this
};

/// Splits texts of the form KEY=VALUE. Throws UsageError that names `option` for other texts.
std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& option,
                                                             const std::vector<std::string>& texts);

/// Width of help in columns.
inline constexpr std::size_t kHelpWidth = 100;

/// The help of `command`, with advanced options if `all`. `program`: the name of the program that has this
/// command; empty if `command` is the program.
std::string help_text(const CommandText& command, const std::string& program, bool all);

/// "limpid denoise [OPTION]... INPUT...".
std::string usage_line(const CommandText& command, const std::string& program);

/// `text` in lines of kHelpWidth columns. The first line starts in column `first`, the others in column
/// `indent`.
std::string wrapped(const std::string& text, std::size_t first, std::size_t indent);

}  // namespace limpid::app
