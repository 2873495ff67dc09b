// SPDX-License-Identifier: MIT
#include "app/options/noise_options.h"

#include <algorithm>
#include <cstddef>

#include "core/base/error.h"
#include "io/media/film_grain.h"

namespace limpid::app {

void NoiseOptions::add_to(CommandLine& command) {
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const NoiseField& field = noise_fields()[i];
    Option* const option = command.add_option("--" + field.name, texts_[i], field.help)
                               ->type_name(field.value)
                               ->details(field.details)
                               ->words(field.words)
                               ->group("Noise and strength");
    if (!field.ending.empty()) {
      option->file(field.ending);
    }
    if (field.any_case) {
      option->any_case();
    }
    if (field.advanced) {
      option->advanced();
    }
  }
}

void NoiseOptions::add_sigma_to(CommandLine& command) {
  const NoiseField& field = *find_noise_field("sigma");
  command
      .add_option("--sigma", texts_[static_cast<std::size_t>(&field - noise_fields().data())],
                  "Noise level, as for \"limpid denoise\" [auto]")
      ->type_name(field.value)
      ->words(field.words);
}

const std::optional<std::string>& NoiseOptions::text_of(const char* name) const {
  return texts_[static_cast<std::size_t>(find_noise_field(name) - noise_fields().data())];
}

bool NoiseOptions::is_given() const {
  return std::ranges::any_of(texts_, [](const auto& text) { return text.has_value(); });
}

NoiseSettings NoiseOptions::settings() const {
  if (text_of("noise") && text_of("sigma")) {
    throw UsageError("--noise and --sigma exclude each other");
  }
  NoiseChoice choice{base_};
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (texts_[i]) {
      noise_fields()[i].parse(choice, "--" + noise_fields()[i].name, *texts_[i]);
    }
  }
  return choice.chosen();
}

std::string NoiseOptions::strength() const {
  return text_of("strength").value_or(base_.strength == Strength() ? "medium" : to_string(base_.strength));
}

void GrainOptions::add_to(CommandLine& command, const std::string& group) {
  constexpr double kMost = 10;
  command
      .add_option(
          "--grain", grain,
          "Film grain that AV1 decoders add: keep (grain like the noise of the input), or a table [none]")
      ->details(
          "With -c libaom-av1. keep reads the input once more before denoising, and estimates the noise of "
          "each "
          "scene. Grain that an AV1 input has already is passed on. A table is a file in the format "
          "filmgrn1, "
          "as \"limpid noise -o FILE.tbl\" writes it. Its times count from the beginning of the input.")
      ->type_name("keep|FILE")
      ->words({"keep"})
      ->file(".tbl")
      ->advanced()
      ->group(group);
  command.add_option("--grain-strength", strength, "Factor of the strength of --grain, 0.1-10 [1]")
      ->type_name("X")
      ->in_range(0.1, kMost)
      ->advanced()
      ->group(group);
  command
      .add_option("--add-grain", added,
                  "Add synthetic grain like the noise of the input, times X, to the frames, 0-10 [0]")
      ->details(
          "For codecs without film grain. The grain is the one that --grain keep describes. It depends only "
          "on the "
          "input and the number of the frame.")
      ->type_name("X")
      ->in_range(0.0, kMost)
      ->advanced()
      ->group(group);
}

void GrainOptions::check(const std::string& codec) const {
  if (!grain.empty() && added > 0) {
    throw UsageError("--grain and --add-grain exclude each other");
  }
  if (grain.empty() && strength != 1) {
    throw UsageError("--grain-strength needs --grain");
  }
  if (!grain.empty()) {
    io::require_film_grain_encoder(codec);
  }
}

}  // namespace limpid::app
