// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/parameters/parameter.h"

// Parameters of several filters.

namespace limpid {

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
      int result = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), result);
      if (error != std::errc() || end != part.data() + part.size() || result < 0 || result > most) {
        std::string sentence = where;
        sentence.append(": a reach of ").append(text).append(" is not possible (").append(numbers);
        throw UsageError(sentence.append(", as N or N,M)"));
      }
      return result;
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
