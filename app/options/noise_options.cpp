#include "app/options/noise_options.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/options/noise_profile.h"
#include "core/base/error.h"
#include "core/noise/noise_model.h"

namespace limpid::app {
namespace {

std::optional<float> parse_number(std::string_view text, float most) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= most)) {
    return std::nullopt;
  }
  return value;
}

// One number for all planes or three.
std::optional<NoiseModel> parse_levels(const std::string& text) {
  std::vector<float> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::optional<float> value = parse_number(rest.substr(0, comma), kMaxSigma);
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*value);
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  if (values.size() == 1) {
    return NoiseModel{{values[0], values[0], values[0]}};
  }
  return values.size() == 3 ? std::optional(NoiseModel{{values[0], values[1], values[2]}}) : std::nullopt;
}

[[noreturn]] NoiseProfile refuse_as_sigma(const std::string& text) {
  throw UsageError(
      "--sigma: '" + text +
      "' is not a noise level: a number from 0 to 255, three of them separated by commas, or auto");
}

NoiseProfile read_named_profile(const std::string& text) {
  if (std::filesystem::path(text).extension() != ".json") {
    throw UsageError(
        "--noise: '" + text +
        "' is neither auto, nor a noise level (a number from 0 to 255, or three of them separated by "
        "commas), nor a profile (a file that ends in .json)");
  }
  return read_noise_profile(text);
}

// Nothing for "auto"; `otherwise` is asked for what is no level either.
std::optional<NoiseProfile> parse_noise(const std::string& text,
                                        NoiseProfile (*otherwise)(const std::string&)) {
  if (text == "auto") {
    return std::nullopt;
  }
  const std::optional<NoiseModel> levels = parse_levels(text);
  return levels ? NoiseProfile{*levels, std::nullopt} : otherwise(text);
}

float parse_strength(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, float>, 3> kStrengths{
      {{"light", 0.7F}, {"medium", 1.0F}, {"strong", 1.4F}}};
  for (const auto& [strength, factor] : kStrengths) {
    if (text == strength) {
      return factor;
    }
  }
  constexpr float kMostStrength = 10;
  if (const std::optional<float> factor = parse_number(text, kMostStrength)) {
    return *factor;
  }
  throw UsageError("--strength: '" + text +
                   "' is neither a number from 0 to 10 nor one of light, medium, strong");
}

}  // namespace

void NoiseOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Denoising";
  command
      .add_option(
          "--noise", noise_,
          "Noise: auto, found from the frames; its standard deviation in 8-bit code values whatever the bit "
          "depth, one for all planes or one for each; or a profile that limpid noise has saved [auto]")
      ->type_name("auto|N|Y,U,V|FILE.json")
      ->group(kGroup);
  command.add_option("--sigma", sigma_, "The same, but for profiles")
      ->type_name("N|Y,U,V|auto")
      ->group(kGroup);
  command
      .add_option("--strength", strength_,
                  "Scales the noise: a number from 0 to 10, or light, medium or strong (0.7, 1, 1.4); above "
                  "1 it adds "
                  "to it, too, where little was found [medium]")
      ->type_name("X|NAME")
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
  if (noise_ && sigma_) {
    throw UsageError("--noise and --sigma exclude each other");
  }
  return {.noise = noise_ ? parse_noise(*noise_, read_named_profile)
                          : parse_noise(sigma_.value_or("auto"), refuse_as_sigma),
          .strength = parse_strength(strength_),
          .planes = luma_only_     ? PlaneChoice::kLuma
                    : chroma_only_ ? PlaneChoice::kChroma
                                   : PlaneChoice::kAll};
}

}  // namespace limpid::app
