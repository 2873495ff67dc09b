#include "app/options/noise_options.h"

#include "core/base/error.h"
#include "core/settings/noise_settings.h"

namespace limpid::app {
void NoiseOptions::add_to(CommandLine& command) {
  constexpr const char* kGroup = "Denoising";
  command
      .add_option(
          "--noise", noise_,
          "Noise: auto, found from the frames; its standard deviation in 8-bit code values whatever the bit "
          "depth, one for all planes or one for each; or a profile that limpid noise has saved [auto]")
      ->type_name("auto|N|Y,U,V|FILE.json")
      ->words({"auto"})
      ->file(".json")
      ->group(kGroup);
  command.add_option("--sigma", sigma_, "The same, but for profiles")
      ->type_name("N|Y,U,V|auto")
      ->words({"auto"})
      ->group(kGroup);
  command
      .add_option("--strength", strength_,
                  "Scales the noise: a number from 0 to 10, or light, medium or strong (0.7, 1, 1.4); above "
                  "1 it adds "
                  "to it, too, where little was found [medium]")
      ->type_name("X|NAME")
      ->words({"light", "medium", "strong"})
      ->any_case()
      ->group(kGroup);
  command.add_option("--planes", planes_, "Planes to filter: all, luma or chroma [all]")
      ->type_name("NAME")
      ->words({"all", "luma", "chroma"})
      ->any_case()
      ->group(kGroup);
}

void NoiseOptions::add_sigma_to(CommandLine& command) {
  command.add_option("--sigma", sigma_, "Noise level, as of limpid denoise [auto]")
      ->type_name("N|Y,U,V|auto")
      ->words({"auto"});
}

NoiseSettings NoiseOptions::settings() const {
  if (noise_ && sigma_) {
    throw UsageError("--noise and --sigma exclude each other");
  }
  return {.noise = noise_ ? parse_noise("--noise", *noise_) : parse_sigma("--sigma", sigma_.value_or("auto")),
          .strength = parse_strength("--strength", strength_),
          .planes = parse_planes("--planes", planes_)};
}

}  // namespace limpid::app
