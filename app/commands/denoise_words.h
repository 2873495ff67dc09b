// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/options/engine_options.h"
#include "app/player/passage.h"
#include "core/settings/denoising_settings.h"
#include "io/media/reader.h"

namespace limpid::app {

/// The options of a command line of `limpid denoise`.
struct DenoiseRequest {
  std::string input;
  EngineChoice engine;
  io::ReaderOptions reader;
  DenoisingSettings settings;
  Passage passage;
  std::string after;  ///< filters after the denoiser
};

/// The words of the command line without its output: "limpid", "denoise", the input, and all options that
/// differ from their defaults. Noise that no option can describe is stored as a profile in
/// $XDG_STATE_HOME/limpid/noise, which the command line names. Throws Error if that fails.
std::vector<std::string> denoise_words(const DenoiseRequest& request);

}  // namespace limpid::app
