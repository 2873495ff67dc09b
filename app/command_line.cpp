#include "app/command_line.h"

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>

#include "core/error.h"

namespace limpid::app {
namespace {

/// CLI11's check, without what it adds to the option's help.
CLI::Validator silent(CLI::Validator check) { return check.description(""); }

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
  option_->check(silent(CLI::IsMember(values)));
  return this;
}

Option* Option::one_of(std::initializer_list<const char*> values) {
  option_->check(silent(CLI::IsMember(values)));
  return this;
}

Option* Option::in_range(int least, int most) {
  option_->check(silent(CLI::Range(least, most)));
  return this;
}

Option* Option::in_range(double least, double most) {
  option_->check(silent(CLI::Range(least, most)));
  return this;
}

Option* Option::positive() {
  option_->check(silent(CLI::PositiveNumber));
  return this;
}

Option* Option::not_negative() {
  option_->check(silent(CLI::NonNegativeNumber));
  return this;
}

Option* Option::check(const std::function<std::string(const std::string& value)>& complaint) {
  option_->check(CLI::Validator(complaint, ""));
  return this;
}

std::string Option::get_name() const { return option_->get_name(); }

std::string Option::get_group() const { return option_->get_group(); }

std::size_t Option::count() const { return option_->count(); }

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : own_(std::make_unique<CLI::App>(description, name)), app_(*own_) {}

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
  app_.set_version_flag(names, text);
}

void CommandLine::take_last() {
  app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  subcommands_.push_back(
      std::unique_ptr<CommandLine>(new CommandLine(*app_.add_subcommand(name, description))));
  return subcommands_.back().get();
}

std::vector<Option*> CommandLine::get_options() {
  std::vector<Option*> options;
  for (Option& option : options_) {
    options.push_back(&option);
  }
  return options;
}

std::vector<CommandLine*> CommandLine::get_subcommands() const {
  std::vector<CommandLine*> subcommands;
  for (const auto& subcommand : subcommands_) {
    subcommands.push_back(subcommand.get());
  }
  return subcommands;
}

void CommandLine::footer(const std::string& text) { app_.footer(text); }

std::string CommandLine::get_footer() const { return app_.get_footer(); }

void CommandLine::callback(const std::function<void()>& function) { app_.callback(function); }

std::optional<std::string> CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_.parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::Success& asked_for) {
    std::ostringstream text;
    app_.exit(asked_for, text, text);
    return text.str();
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
