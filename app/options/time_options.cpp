#include "app/options/time_options.h"

#include <charconv>
#include <string_view>

#include "core/base/error.h"

namespace limpid::app {

double parse_time(const std::string& option, const std::string& text) {
  constexpr double kSixty = 60;
  constexpr double kLongest = 1e9;
  double time = 0;
  std::string_view rest = text;
  for (int field = 0; field < 3; ++field) {
    const std::size_t colon = rest.find(':');
    const std::string_view digits = rest.substr(0, colon);
    double value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size() && value >= 0;
    const bool is_whole = digits.find('.') == std::string_view::npos;
    if (!is_number || (field > 0 && value >= kSixty) || (colon != std::string_view::npos && !is_whole)) {
      break;
    }
    time = time * kSixty + value;
    if (colon == std::string_view::npos) {
      if (time < kLongest) {
        return time;
      }
      break;
    }
    rest.remove_prefix(colon + 1);
  }
  throw UsageError(option + ": '" + text + "' is not a time: seconds, or [hours:]minutes:seconds");
}

void TimeOptions::add_to(CommandLine& command, const std::string& group) {
  command
      .add_option("--start", start,
                  "Begin at this time from the input's beginning, exact to the frame; it becomes zero in the "
                  "output")
      ->type_name("[[H:]M:]S")
      ->group(group);
  command.add_option("--end", end, "End before this time from the input's beginning")
      ->type_name("[[H:]M:]S")
      ->group(group);
}

void TimeOptions::apply_to(io::ReaderOptions& reader) const {
  if (!start.empty()) {
    reader.start = parse_time("--start", start);
  }
  if (!end.empty()) {
    reader.end = parse_time("--end", end);
    if (*reader.end <= reader.start.value_or(0)) {
      throw UsageError("--end: " + end + " is not later than " +
                       (start.empty() ? "the beginning" : "--start " + start));
    }
  }
}

}  // namespace limpid::app
