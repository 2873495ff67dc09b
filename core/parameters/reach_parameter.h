#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/parameters/parameter.h"

namespace limpid {

/// How many frames `before` and `after` its own a filter over time looks at, members of `Parameters`: "4" or
/// "4,2", at most `most` each. `where`: as ParameterText.
template <typename Parameters>
Parameter<Parameters> reach_parameter(const std::string& where, int most) {
  const std::string numbers = "0 to " + std::to_string(most);
  Parameter<Parameters> reach;
  reach.text = {"reach",
                "",
                "reach",
                where,
                "a reach",
                numbers + " each, as N or N,M",
                "Frames before and after its own in which a patch is followed, N or N,M",
                "Denoising"};
  reach.kind = ParameterKind::kName;
  reach.get = [](const Parameters& parameters) {
    return ParameterValue(std::to_string(parameters.before) + "," + std::to_string(parameters.after));
  };
  reach.set = [where, most](Parameters& parameters, const ParameterValue& value) {
    const auto fail = [&] {
      throw UsageError(where + ": a reach is N or N,M: whole numbers from 0 to " + std::to_string(most));
    };
    const auto number = [&](std::string_view text) {
      int result = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
      if (error != std::errc() || end != text.data() + text.size() || result < 0 || result > most) {
        fail();
      }
      return result;
    };
    if (const int* const both = std::get_if<int>(&value)) {
      parameters.before = parameters.after = number(std::to_string(*both));
    } else if (const auto* const text = std::get_if<std::string>(&value)) {
      const std::size_t comma = text->find(',');
      parameters.before = number(std::string_view(*text).substr(0, comma));
      parameters.after =
          comma == std::string::npos ? parameters.before : number(std::string_view(*text).substr(comma + 1));
    } else {
      fail();
    }
  };
  reach.check = [where, most, numbers](const Parameters& parameters) {
    for (const int frames : {parameters.before, parameters.after}) {
      if (frames < 0 || frames > most) {
        std::string sentence = where;
        sentence.append(": a reach of ").append(std::to_string(frames));
        throw UsageError(sentence.append(" is not possible (").append(numbers).append(")"));
      }
    }
  };
  return reach;
}

}  // namespace limpid
