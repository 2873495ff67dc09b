#include "app/options/noise_options.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "app/pipeline/noise_control.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

std::optional<float> parse_number(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= kMaxSigma)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<NoiseLevel> parse_sigma(const std::string& text) {
  if (text == "auto") {
    return std::nullopt;
  }
  std::vector<float> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<float> value = parse_number(rest.substr(0, comma));
    if (!value) {
      break;
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) {
      if (values.size() == 1) {
        return NoiseLevel{{values[0], values[0], values[0]}};
      }
      if (values.size() == 3) {
        return NoiseLevel{{values[0], values[1], values[2]}};
      }
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  throw UsageError(
      "--sigma: '" + text +
      "' is not a noise level: a number from 0 to 255, three of them separated by commas, or auto");
}

float parse_strength(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, float>, 3> kStrengths{
      {{"light", 0.7F}, {"medium", 1.0F}, {"strong", 1.4F}}};
  for (const auto& [strength, factor] : kStrengths) {
    if (name == strength) {
      return factor;
    }
  }
  throw UsageError("--strength: '" + name + "' is not one of light, medium, strong");
}

}  // namespace limpid::app
