#include "app/options/noise_options.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/noise/noise_model.h"

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

// One number for all planes, three, or "auto" (nothing).
std::optional<NoiseModel> parse_sigma(const std::string& text) {
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
        return NoiseModel{{values[0], values[0], values[0]}};
      }
      if (values.size() == 3) {
        return NoiseModel{{values[0], values[1], values[2]}};
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

}  // namespace

void NoiseOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Denoising";
  command
      .add_option(
          "--sigma", sigma_,
          "Noise level, the standard deviation in 8-bit code values whatever the bit depth: one for all "
          "planes, one for each, or auto, estimated from the frames [auto]")
      ->type_name("N|Y,U,V|auto")
      ->group(kGroup);
  command
      .add_option("--strength", strength_, "light, medium or strong: scales sigma by 0.7, 1 or 1.4 [medium]")
      ->type_name("NAME")
      ->any_case()
      ->group(kGroup);
  command.add_flag("--luma-only", luma_only_, "Leave the chroma planes as they are")->group(kGroup);
  command.add_flag("--chroma-only", chroma_only_, "Leave the luma plane as it is")->group(kGroup);
}

void NoiseOptions::add_sigma_to(CommandLine& command) {
  command.add_option("--sigma", sigma_, "Noise level, as of limpid denoise [auto]")
      ->type_name("N|Y,U,V|auto");
}

NoiseSettings NoiseOptions::settings() const {
  if (luma_only_ && chroma_only_) {
    throw UsageError("--luma-only and --chroma-only exclude each other");
  }
  return {.sigma = parse_sigma(sigma_),
          .strength = parse_strength(strength_),
          .planes = luma_only_     ? PlaneChoice::kLuma
                    : chroma_only_ ? PlaneChoice::kChroma
                                   : PlaneChoice::kAll};
}

}  // namespace limpid::app
