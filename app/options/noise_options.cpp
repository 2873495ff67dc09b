// SPDX-License-Identifier: MIT
#include "app/options/noise_options.h"

#include "core/base/error.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
void NoiseOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Noise and strength";
  command
      .add_option("--noise", noise_,
                  "Noise: auto, level as for --sigma, or profile of \"limpid noise\" [auto]")
      ->type_name("auto|LEVEL|FILE")
      ->words({"auto"})
      ->file(".json")
      ->group(kGroup);
  command
      .add_option("--sigma", sigma_,
                  "Noise standard deviation in 8-bit code values, N or Y,U,V, 0-255 [auto]")
      ->details("The unit does not depend on the bit depth of the video.")
      ->type_name("N|Y,U,V|auto")
      ->words({"auto"})
      ->group(kGroup);
  command
      .add_option(
          "--strength", strength_,
          "Factor of the noise level, X or LUMA,CHROMA, 0-10, or light (0.7), medium, strong (1.4) [1]")
      ->details("Strengths above 1 also add to the level if little noise was detected.")
      ->type_name("X|X,X|NAME")
      ->words({"light", "medium", "strong"})
      ->any_case()
      ->group(kGroup);
  command.add_option("--planes", planes_, "Planes to filter: all, luma or chroma [all]")
      ->type_name("NAME")
      ->words({"all", "luma", "chroma"})
      ->any_case()
      ->advanced()
      ->group(kGroup);
  command.add_option("--mix", mix_, "Share of the noisy frame in the result, 0-1 [0]")
      ->type_name("X")
      ->in_range(0.0, 1.0)
      ->advanced()
      ->group(kGroup);
}

void NoiseOptions::add_sigma_to(CommandLine& command) {
  command.add_option("--sigma", sigma_, "Noise level, as for \"limpid denoise\" [auto]")
      ->type_name("N|Y,U,V|auto")
      ->words({"auto"});
}

NoiseSettings NoiseOptions::settings() const {
  if (noise_ && sigma_) {
    throw UsageError("--noise and --sigma exclude each other");
  }
  NoiseSettings settings = base_;
  if (noise_) {
    settings.noise = parse_noise("--noise", *noise_);
  } else if (sigma_) {
    settings.noise = parse_sigma("--sigma", *sigma_);
  }
  if (strength_) {
    settings.strength = parse_strength("--strength", *strength_);
  }
  if (planes_) {
    settings = restricted(settings, parse_planes("--planes", *planes_));
  }
  settings.mix = mix_.value_or(settings.mix);
  return settings;
}

std::string NoiseOptions::strength() const {
  return strength_.value_or(base_.strength == Strength() ? "medium" : to_string(base_.strength));
}

}  // namespace limpid::app
