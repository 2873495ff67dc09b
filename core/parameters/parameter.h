// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/frame/reach.h"

namespace limpid {

/// The values of an enumeration and their names in settings.
template <typename Enum, std::size_t kCount>
using Names = std::array<std::pair<Enum, std::string_view>, kCount>;

/// "dct, bior1.5, haar".
template <typename Enum, std::size_t kCount>
std::string list_of(const Names<Enum, kCount>& names) {
  std::string list;
  for (const auto& [value, name] : names) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

/// The name of a value. `what` describes the value: "2D transform". Throws UsageError for a value that is not
/// in the enumeration.
template <typename Enum, std::size_t kCount>
std::string_view name_of(Enum value, const char* what, const Names<Enum, kCount>& names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == value; });
  if (found == names.end()) {
    throw UsageError("there is no " + std::string(what) + " number " +
                     std::to_string(static_cast<int>(value)));
  }
  return found->second;
}

/// The value with a name. Throws a UsageError that lists the names.
template <typename Enum, std::size_t kCount>
Enum value_of(std::string_view name, const char* what, const Names<Enum, kCount>& names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
  if (found == names.end()) {
    throw UsageError("there is no " + std::string(what) + " \"" + std::string(name) + "\"; there are " +
                     list_of(names));
  }
  return found->first;
}

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

// Parameters of several filters.

/// The reach of a temporal filter: its members `before` and `after`, numbers of frames that it uses before
/// and after a frame. Text: "4" or "4,2", each at most `most`, in sum at most `together`. `where`:
/// ParameterText::where.
template <typename Parameters>
Parameter<Parameters> reach_parameter(const std::string& where, int most, int together) {
  const std::string numbers =
      "0 to " + std::to_string(most) + " each" +
      (together < 2 * most ? ", at most " + std::to_string(together) + " together" : "");
  Parameter<Parameters> reach;
  reach.text = {"reach",
                "",
                "reach",
                where,
                "a reach",
                numbers + ", as N or N,M",
                "Frames used before and after each frame",
                "General"};
  reach.kind = ParameterKind::kName;
  reach.get = [](const Parameters& parameters) {
    return ParameterValue(std::to_string(parameters.before) + "," + std::to_string(parameters.after));
  };
  reach.set = [where, most, numbers](Parameters& parameters, const ParameterValue& value) {
    const int* const both = std::get_if<int>(&value);
    const auto* const given = std::get_if<std::string>(&value);
    const std::string text = both != nullptr ? std::to_string(*both) : given != nullptr ? *given : "";
    const auto number = [&](std::string_view part) {
      const std::optional<int> result = to_number<int>(part);
      if (!result || *result < 0 || *result > most) {
        std::string sentence = where;
        sentence.append(": a reach of ").append(text).append(" is not possible (").append(numbers);
        throw UsageError(sentence.append(", as N or N,M)"));
      }
      return *result;
    };
    const std::size_t comma = std::min(text.find(','), text.size());
    parameters.before = number(std::string_view(text).substr(0, comma));
    parameters.after =
        comma == text.size() ? parameters.before : number(std::string_view(text).substr(comma + 1));
  };
  reach.check = [where, most, together, numbers](const Parameters& parameters) {
    const auto [least, greatest] = std::minmax(parameters.before, parameters.after);
    if (least < 0 || greatest > most || least + greatest > together) {
      std::string sentence = where;
      sentence.append(": a reach of ").append(std::to_string(parameters.before));
      sentence.append(",").append(std::to_string(parameters.after));
      throw UsageError(sentence.append(" is not possible (").append(numbers).append(")"));
    }
  };
  return reach;
}

/// The optional member `delay` of `Parameters`: the maximum number of later frames that a result waits for, 0
/// to `most`.
template <typename Parameters>
Parameter<Parameters> delay_parameter(const std::string& where, int most) {
  return number_parameter<Parameters>(
      ParameterText{"delay", "", "delay", where, "a delay", "0 to " + std::to_string(most),
                    "Maximum number of later frames to wait for; 0: live", "General"},
      [](auto& parameters) { return &parameters.delay; },
      [most](int delay) { return delay >= 0 && delay <= most; });
}

/// The number of steps, 1 or 2. Setting 1 resets `second`.
template <typename Parameters, typename Step>
Parameter<Parameters> steps_parameter(const std::string& where, const std::string& help,
                                      std::optional<Step> Parameters::*second) {
  Parameter<Parameters> steps;
  steps.text = {"steps", "", "steps", where, "a number of steps", "", help, "General"};
  steps.get = [second](const Parameters& parameters) { return ParameterValue(parameters.*second ? 2 : 1); };
  steps.set = [where, second](Parameters& parameters, const ParameterValue& value) {
    if (value == ParameterValue(1)) {
      (parameters.*second).reset();
    } else if (value != ParameterValue(2)) {
      throw UsageError(where + ": steps are 1 or 2");
    } else if (!(parameters.*second)) {
      throw UsageError(where + ": the profile has no second step");
    }
  };
  steps.check = [](const Parameters&) {};
  return steps;
}

/// Texts shared by the parameters of one step.
struct StepText {
  std::string section;  ///< ParameterText::section
  std::string where;    ///< ParameterText::where
  std::string suffix;   ///< end of option names: "-2" in the second step
  std::string group;    ///< ParameterText::group
};

/// Returns number(option, name, title, range, help, member, legal), which adds a numeric parameter of one
/// step to `description`: the `member` of the step to which `step_of(parameters)` points (null if the step is
/// omitted).
template <typename Parameters, typename StepOf>
auto numbers_of_step(FilterDescription<Parameters>& description, const StepOf& step_of,
                     const StepText& step) {
  return [&description, step_of, step](const std::string& option, const std::string& name,
                                       const std::string& title, const std::string& range,
                                       const std::string& help, auto member, const auto& legal) {
    description.parameters.push_back(number_parameter<Parameters>(
        ParameterText{option + step.suffix, step.section, name, step.where, title, range, help, step.group},
        [=](auto& parameters) {
          auto* const of = step_of(parameters);
          return of == nullptr ? nullptr : &(of->*member);
        },
        legal));
  };
}

}  // namespace limpid
