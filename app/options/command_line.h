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

// What the commands need of CLI11, under its names but without its header, which costs every file that
// includes it ten seconds of compiling and twice that of linting.

namespace limpid::app {

/// Whether a value names a file or folder that exists or is made.
enum class Files : std::uint8_t { kNone, kFile, kFolder };

/// What is known of an option, for manuals and shells.
struct OptionText {
  std::vector<std::string> names;  ///< with their dashes, short ones first; an argument's own name
  bool is_argument = false;        ///< is known by its place, not by its name
  bool required = false;
  bool many = false;  ///< may be given several times
  std::string value;  ///< what --help calls the value; empty: a flag
  std::string help;
  std::string group;
  std::vector<std::string> words;  ///< values that shells offer; others may be legal, too
  Files files = Files::kNone;
  std::string ending;  ///< of the files' names; empty: any
};

/// A program or one of its commands.
struct CommandText {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionText> options;
  std::vector<CommandText> commands;
};

/// An option or flag of a command. The setters return the option, to be chained.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// What --help calls the value.
  Option* type_name(const std::string& name);
  /// The heading that --help lists the option under.
  Option* group(const std::string& name);
  Option* required();
  /// Given several times, all values count.
  Option* take_all();
  /// What separates several values in one argument.
  Option* delimiter(char delimiter);
  /// Whether an option of several values takes all arguments that follow, up to the next option.
  Option* allow_extra_args(bool allow);
  /// Values that are none of these are refused.
  Option* one_of(std::initializer_list<int> values);
  Option* one_of(std::initializer_list<const char*> values);
  /// Whole numbers, or numbers, that are not from `least` to `most` are refused, as is what is none.
  Option* in_range(int least, int most);
  Option* in_range(double least, double most);
  /// Whole numbers that are not above 0, or below it, are refused.
  Option* positive();
  Option* not_negative();
  /// Values that `complaint` has something to say of are refused with that.
  Option* check(const std::function<std::string(const std::string& value)>& complaint);

  /// Capital letters are taken for small ones: names are the same in either.
  Option* any_case();

  /// What shells offer as its value, beside what one_of() has named: words, files whose names end so,
  /// folders.
  Option* words(const std::vector<std::string>& words);
  Option* file(const std::string& ending = {});
  Option* folder();

  /// How many times the option was given.
  std::size_t count() const;
  OptionText text() const;
  bool is(const CLI::Option& option) const { return option_ == &option; }

 private:
  CLI::Option* option_;
  std::vector<std::string> words_;
  Files files_ = Files::kNone;
  std::string ending_;
};

/// The options, flags and subcommands of a program or command. Refers to the variables that they set.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description = {}, const std::string& name = {});
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  CommandLine(CommandLine&&) = delete;
  CommandLine& operator=(CommandLine&&) = delete;
  ~CommandLine();

  /// `names`: "-o,--output"; without dashes it is a positional argument. For text, paths, numbers, and
  /// optional or several ones: a kind that is missing at command_line.cpp's end does not link.
  template <typename Value>
  Option* add_option(const std::string& names, Value& value, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  /// Prints `text` as --help prints the help.
  void set_version_flag(const std::string& names, const std::string& text);
  /// Of the options that are added from now on, when given several times, the last value counts; else that is
  /// an error.
  void take_last();
  CommandLine* add_subcommand(const std::string& name, const std::string& description);

  std::vector<CommandLine*> get_subcommands() const;
  /// All options, --help too.
  CommandText text() const;

  /// The end of the help.
  void footer(const std::string& text);
  std::string get_footer() const;
  /// What parse() calls when the arguments name this command.
  void callback(const std::function<void()>& function);

  /// `arguments`: without the program's name. Returns what should be printed and nothing else be done, if
  /// help or the version is asked for. Throws UsageError, with a name that may have been meant in place of an
  /// unknown one.
  std::optional<std::string> parse(std::vector<std::string> arguments);

 private:
  explicit CommandLine(CLI::App& subcommand);
  [[noreturn]] void explain_unexpected(const std::vector<std::string>& arguments) const;

  std::unique_ptr<CLI::App> own_;  ///< nothing for a subcommand
  CLI::App& app_;
  std::deque<Option> options_;
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
};

/// Texts of the form KEY=VALUE, taken apart. Throws UsageError for others, which names `option`.
std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& option,
                                                             const std::vector<std::string>& texts);

}  // namespace limpid::app
