// SPDX-License-Identifier: MIT
#include "app/options/noise_options.h"

#include <algorithm>
#include <cstddef>

#include "core/base/error.h"

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

}  // namespace limpid::app
