// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/commands/progress.h"

namespace limpid::app {

/// The profile of a run.
struct ProfileInUse {
  std::string filter;
  std::string profile;
};

/// The time left of a run that takes more than a minute, and the time with the filter's quickest profile if
/// denoising takes most of the time: "about 57 min left; with --profile fast about 16 min, and 0.6 dB less on
/// the test clips". Empty for shorter runs, and if the number of frames is not known.
std::string outlook_text(const ProgressState& state, const ProfileInUse& used);

}  // namespace limpid::app
