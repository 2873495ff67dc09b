// SPDX-License-Identifier: MIT
#include "app/options/grain_options.h"

#include "core/base/error.h"
#include "io/media/film_grain.h"

namespace limpid::app {

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
