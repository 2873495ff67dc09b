// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/frame/reach.h"
#include "core/parameters/names.h"

namespace limpid {

// The description of one filter parameter. Options, help, checks and reports are generated from it.

/// An integer, a real number or a name.
using ParameterValue = std::variant<int, float, std::string>;
enum class ParameterKind : std::uint8_t { kInteger, kNumber, kName };

struct ParameterText {
  std::string option;   ///< name in settings: "search-window-2"
  std::string section;  ///< object in JSON reports: "wiener"; empty: none
  std::string name;     ///< member of that object: "search_window"
  std::string where;    ///< beginning of messages: "second step"
  std::string title;    ///< noun phrase for messages: "a search window"; names have no article: "matching"
  std::string range;    ///< legal values: "odd, 1 to 129"
  std::string help;     ///< a noun phrase
  std::string group;    ///< heading in lists of parameters
};

/// One of the parameters in `Parameters`.
template <typename Parameters>
struct Parameter {
  ParameterText text;
  ParameterKind kind = ParameterKind::kInteger;
  std::vector<std::string> names;  ///< legal values of a parameter that is a name
  /// Returns the value; nothing if it follows from the noise, or if the parameter's step is omitted.
  std::function<std::optional<ParameterValue>(const Parameters&)> get;
  /// Sets the value. Throws UsageError if it is illegal or of another type, or if the parameter's step is
  /// omitted. Accepts integers for real numbers.
  std::function<void(Parameters&, const ParameterValue&)> set;
  /// Throws UsageError if the current value is illegal.
  std::function<void(const Parameters&)> check;
};

namespace parameter_details {

template <typename Value>
struct Optional {
  using Type = Value;
  static const Value* get(const Value& value) { return &value; }
};
template <typename Value>
struct Optional<std::optional<Value>> {
  using Type = Value;
  static const Value* get(const std::optional<Value>& value) { return value ? &*value : nullptr; }
};

[[noreturn]] inline void fail_left_out(const ParameterText& text) {
  throw UsageError(text.option + " has no effect without a " + text.where);
}

}  // namespace parameter_details

/// A parameter of type int or float, or an optional one. `field(parameters)` returns a pointer to it (for
/// constant and mutable parameters), or null if its step is omitted. `legal(value)` is true for legal values.
template <typename Parameters, typename Field, typename Legal>
Parameter<Parameters> number_parameter(const ParameterText& text, const Field& field, const Legal& legal) {
  using Member = std::remove_pointer_t<decltype(field(std::declval<Parameters&>()))>;
  using Access = parameter_details::Optional<Member>;
  using Number = typename Access::Type;
  const auto check = [text, legal](Number value) {
    if (!legal(value)) {
      std::ostringstream sentence;
      sentence << text.where << ": " << text.title << " of " << value << " is not possible (" << text.range
               << ")";
      throw UsageError(sentence.str());
    }
  };
  const auto value_in = [field](const Parameters& parameters) -> const Number* {
    const Member* const member = field(parameters);
    return member == nullptr ? nullptr : Access::get(*member);
  };
  Parameter<Parameters> parameter;
  parameter.text = text;
  parameter.kind = std::is_same_v<Number, int> ? ParameterKind::kInteger : ParameterKind::kNumber;
  parameter.get = [value_in](const Parameters& parameters) -> std::optional<ParameterValue> {
    const Number* const value = value_in(parameters);
    return value == nullptr ? std::nullopt : std::optional<ParameterValue>(*value);
  };
  parameter.set = [text, field, check](Parameters& parameters, const ParameterValue& value) {
    const int* const whole = std::get_if<int>(&value);
    const Number* const same = std::get_if<Number>(&value);
    if (same == nullptr && whole == nullptr) {
      throw UsageError(text.where + ": " + text.title + " is a " +
                       (std::is_same_v<Number, int> ? "whole number" : "number"));
    }
    Member* const member = field(parameters);
    if (member == nullptr) {
      parameter_details::fail_left_out(text);
    }
    const Number number = same != nullptr ? *same : static_cast<Number>(*whole);
    check(number);
    *member = number;
  };
  parameter.check = [value_in, check](const Parameters& parameters) {
    if (const Number* const value = value_in(parameters)) {
      check(*value);
    }
  };
  return parameter;
}

/// A parameter of an enumeration type; `text.title` describes the values. `field(parameters)` returns a
/// pointer to it, or null if its step is omitted.
template <typename Parameters, typename Field, typename Enum, std::size_t kCount>
Parameter<Parameters> name_parameter(ParameterText text, const Field& field,
                                     const Names<Enum, kCount>& names) {
  text.range = list_of(names);
  const auto name_in = [text, field, &names](const Parameters& parameters) -> std::optional<ParameterValue> {
    const Enum* const member = field(parameters);
    if (member == nullptr) {
      return std::nullopt;
    }
    try {
      return std::string(name_of(*member, text.title.c_str(), names));
    } catch (const UsageError& error) {
      throw UsageError(text.where + ": " + error.what());
    }
  };
  Parameter<Parameters> parameter;
  parameter.text = text;
  parameter.kind = ParameterKind::kName;
  for (const auto& [value, name] : names) {
    parameter.names.emplace_back(name);
  }
  parameter.get = name_in;
  parameter.set = [text, field, &names](Parameters& parameters, const ParameterValue& value) {
    const auto* const name = std::get_if<std::string>(&value);
    if (name == nullptr) {
      throw UsageError(text.where + ": the " + text.title + " is a name: " + text.range);
    }
    Enum* const member = field(parameters);
    if (member == nullptr) {
      parameter_details::fail_left_out(text);
    }
    *member = value_of(*name, text.title.c_str(), names);
  };
  parameter.check = [name_in](const Parameters& parameters) { static_cast<void>(name_in(parameters)); };
  return parameter;
}

/// The description of the filter whose parameters are of type `Parameters`.
template <typename Parameters>
struct FilterDescription {
  std::string name;  ///< name in settings: "bilateral"
  std::string help;  ///< title and purpose: "Bilateral filter: the fastest"
  /// Names of presets, from fastest to best; may be empty.
  std::vector<std::string> profiles;
  std::string default_profile;
  /// The parameters of a profile, or the defaults of a filter without profiles. Throws UsageError for an
  /// unknown profile.
  std::function<Parameters(const std::string& profile)> make;
  /// The parameters of a profile for live video, where results wait for no later frame (the parameter "delay"
  /// is 0). Empty if they do not differ.
  std::function<Parameters(const std::string& profile)> make_live;
  /// In the order in which they are set: the first may remove steps that contain later parameters.
  std::vector<Parameter<Parameters>> parameters;
  /// Throws UsageError for combinations of values that are not allowed; may be empty.
  std::function<void(const Parameters&)> check_together;
  /// The parameters for a plane with noise of standard deviation `sigma` (8-bit code values, > 0), which
  /// determines missing ones. Empty if no parameter depends on sigma.
  std::function<Parameters(const Parameters&, float sigma)> resolve;
  /// The neighboring frames that a result depends on; empty if frames are filtered independently.
  std::function<Reach(const Parameters&)> reach;
};

/// Throws a UsageError that names the first illegal parameter and its legal range.
template <typename Parameters>
void check_parameters(const FilterDescription<Parameters>& description, const Parameters& parameters) {
  for (const Parameter<Parameters>& parameter : description.parameters) {
    parameter.check(parameters);
  }
  if (description.check_together) {
    description.check_together(parameters);
  }
}

}  // namespace limpid
