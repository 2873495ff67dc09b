// SPDX-License-Identifier: MIT
#include "app/options/command_line.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <sstream>
#include <system_error>

#include "app/options/arguments.h"
#include "app/options/help.h"
#include "core/base/error.h"
#include "core/base/suggestion.h"

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

std::string none_of(const std::string& text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    return "";
  }
  return fmt::format("'{}' is not one of {}", text, fmt::join(names, ", "));
}

constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

}  // namespace

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::group(const std::string& name) {
  option_->group(name);
  return this;
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::take_all() {
  option_->take_all();
  return this;
}

Option* Option::delimiter(char delimiter) {
  option_->delimiter(delimiter);
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return this;
}

Option* Option::one_of(std::initializer_list<int> values) {
  std::vector<std::string> names;
  for (const int value : values) {
    names.push_back(std::to_string(value));
  }
  words(names);
  return check([names](const std::string& text) { return none_of(text, names); });
}

Option* Option::one_of(std::initializer_list<const char*> values) {
  const std::vector<std::string> names(values.begin(), values.end());
  words(names);
  return check([names](const std::string& text) { return none_of(text, names); });
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

Option* Option::check(const std::function<std::string(const std::string& value)>& complaint) {
  option_->check(CLI::Validator(complaint, ""));
  return this;
}

Option* Option::any_case() {
  option_->transform(CLI::Validator(
      [](std::string& text) {
        text = CLI::detail::to_lower(text);
        return std::string();
      },
      ""));
  return this;
}

Option* Option::words(const std::vector<std::string>& words) {
  words_.insert(words_.end(), words.begin(), words.end());
  return this;
}

Option* Option::file(const std::string& ending) {
  files_ = Files::kFile;
  ending_ = ending;
  return this;
}

Option* Option::folder() {
  files_ = Files::kFolder;
  return this;
}

Option* Option::advanced() {
  advanced_ = true;
  return this;
}

Option* Option::details(const std::string& text) {
  details_ = text;
  return this;
}

OptionText Option::text() const {
  OptionText text;
  text.is_argument = option_->get_positional();
  if (text.is_argument) {
    text.names.push_back(option_->get_name(true));
  }
  for (const std::string& name : option_->get_snames()) {
    text.names.push_back("-" + name);
  }
  for (const std::string& name : option_->get_lnames()) {
    text.names.push_back("--" + name);
  }
  text.required = option_->get_required();
  text.many = option_->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  text.value = option_->get_items_expected_max() == 0 ? "" : option_->get_type_name();
  text.help = option_->get_description();
  text.group = option_->get_group();
  text.details = details_;
  text.advanced = advanced_;
  text.words = words_;
  text.files = files_;
  text.ending = ending_;
  return text;
}

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : own_(std::make_unique<CLI::App>(description, name)), app_(*own_) {
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.set_help_all_flag("--help-all", "Print the help of all options and exit");
}

CommandLine::CommandLine(CLI::App& subcommand) : app_(subcommand) {}

CommandLine::~CommandLine() = default;

template <typename Value>
Option* CommandLine::add_option(const std::string& names, Value& value, const std::string& help) {
  return &options_.emplace_back(*app_.add_option(names, value, help));
}

Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return &options_.emplace_back(*app_.add_flag(names, value, help));
}

void CommandLine::set_version_flag(const std::string& names, const std::string& text) {
  app_.set_version_flag(names, text, "Print the versions of the program and its libraries and exit");
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  subcommands_.push_back(
      std::unique_ptr<CommandLine>(new CommandLine(*app_.add_subcommand(name, description))));
  // Scripts append to given options, as for ffmpeg.
  subcommands_.back()->app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return subcommands_.back().get();
}

std::vector<CommandLine*> CommandLine::get_subcommands() const {
  std::vector<CommandLine*> subcommands;
  for (const auto& subcommand : subcommands_) {
    subcommands.push_back(subcommand.get());
  }
  return subcommands;
}

CommandText CommandLine::text() const {
  CommandText text;
  text.name = app_.get_name();
  text.help = app_.get_description();
  text.footer = app_.get_footer();
  text.examples = examples_;
  for (const Option& option : options_) {
    text.options.push_back(option.text());
  }
  const bool layered = std::ranges::any_of(
      text.options, [](const OptionText& option) { return option.advanced || !option.details.empty(); });
  for (CLI::Option* option : app_.get_options()) {
    const bool own = std::ranges::any_of(options_, [&](const Option& each) { return each.is(*option); });
    if (!own && (layered || option != app_.get_help_all_ptr())) {
      text.options.push_back(Option(*option).text());
    }
  }
  for (const auto& subcommand : subcommands_) {
    text.commands.push_back(subcommand->text());
  }
  return text;
}

void CommandLine::help_group(const std::string& name) {
  app_.get_option("--help")->group(name);
  app_.get_option("--help-all")->group(name);
}

void CommandLine::footer(const std::string& text) { app_.footer(text); }

std::string CommandLine::get_footer() const { return app_.get_footer(); }

void CommandLine::callback(const std::function<void()>& function) { app_.callback(function); }

void CommandLine::explain_unexpected(const std::vector<std::string>& arguments) const {
  const std::vector<CLI::App*> chosen = app_.get_subcommands();  // those that were named
  const std::vector<CLI::App*> known = app_.get_subcommands([](const CLI::App*) { return true; });
  if (chosen.empty() && !known.empty()) {
    const auto word = std::find_if(arguments.begin(), arguments.end(),
                                   [](const std::string& argument) { return !argument.starts_with('-'); });
    const std::string hint = "; " + app_.get_name() + " --help lists the commands";
    if (word == arguments.end()) {
      throw UsageError(fmt::format("the command is missing{}", hint));
    }
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const CLI::App* command : known) {
      names.push_back(command->get_name());
    }
    if (std::error_code ignored; std::filesystem::exists(*word, ignored)) {
      std::vector<std::string> rest = arguments;
      std::erase(rest, "-i");
      throw UsageError(fmt::format("the command is missing; perhaps: {} {} {}", app_.get_name(),
                                   names.front(), fmt::join(rest, " ")));
    }
    const std::string meant = did_you_mean(*word, names);
    throw UsageError(fmt::format("there is no command '{}'{}", *word, meant.empty() ? hint : meant));
  }
  const std::vector<std::string> unexpected = app_.remaining(true);
  throw UsageError(fmt::format("'{}' is one argument too many: {}",
                               unexpected.empty() ? std::string() : unexpected.front(), usage()));
}

void CommandLine::explain_missing() const {
  const CommandLine& command = chosen();
  for (const CLI::Option* option : command.app_.get_options()) {
    if (option->get_required() && option->count() == 0) {
      throw UsageError(fmt::format("{} is missing: {}", option->get_name(option->get_positional()), usage()));
    }
  }
  throw UsageError(fmt::format("an argument is missing: {}", usage()));
}

const CommandLine& CommandLine::chosen() const {
  const std::vector<CLI::App*> chosen = app_.get_subcommands();
  const auto of_command = std::ranges::find_if(
      subcommands_, [&](const auto& command) { return !chosen.empty() && &command->app_ == chosen.front(); });
  return of_command == subcommands_.end() ? *this : **of_command;
}

std::string CommandLine::program_of(const CommandLine& command) const {
  return &command == this ? "" : app_.get_name();
}

std::string CommandLine::usage() const { return usage_line(chosen().text(), program_of(chosen())); }

const std::vector<std::string>& CommandLine::warnings() const { return chosen().warnings_; }

bool CommandLine::is_given(const std::string& option) const {
  const CLI::Option* const found = chosen().app_.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

void CommandLine::check(const std::vector<std::string>& arguments) {
  const auto name =
      std::ranges::find_if(arguments, [](const std::string& each) { return !each.starts_with('-'); });
  const auto command = std::ranges::find_if(subcommands_, [&](const auto& each) {
    return name != arguments.end() && each->app_.get_name() == *name;
  });
  if (subcommands_.empty()) {
    warnings_ = check_arguments(arguments, text(), "");
  } else if (command != subcommands_.end()) {
    (*command)->warnings_ = check_arguments({name + 1, arguments.end()}, (*command)->text(), app_.get_name());
  }
}

std::string CommandLine::help(bool all) const {
  return help_text(chosen().text(), program_of(chosen()), all);
}

std::optional<std::string> CommandLine::parse(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help" && !subcommands_.empty()) {
    arguments.erase(arguments.begin());
    arguments.resize(std::min<std::size_t>(arguments.size(), 1));
    arguments.emplace_back("--help");
  }
  check(arguments);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // the order that CLI11 expects
  try {
    app_.parse(std::move(reversed));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return help(false);
  } catch (const CLI::CallForAllHelp&) {
    return help(true);
  } catch (const CLI::Success& asked_for) {
    std::ostringstream text;
    app_.exit(asked_for, text, text);
    return text.str();
  } catch (const CLI::ExtrasError&) {
    explain_unexpected(arguments);
  } catch (const CLI::RequiredError&) {
    explain_missing();
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
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
template Option* CommandLine::add_option(Text, std::vector<float>&, Text);
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

}  // namespace limpid::app
