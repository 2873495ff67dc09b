// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <string>
#include <vector>

#include "plugins/openfx/images.h"

namespace limpid::openfx {

/// The most frames that noise is measured from, as by `limpid noise`.
inline constexpr int kMeasuredFrames = 16;

struct MeasuredNoise {
  std::string profile;  ///< JSON in a line
  std::string level;    ///< "9.8, 9.6, 9.7": of each color, in 8-bit code values
};

/// Measures the noise of frames of one size, at least one, in their order. Throws Failure with a sentence,
/// also if frames differ in layout.
MeasuredNoise measure_noise(limpid_engine& engine, const std::vector<Framed>& frames);

}  // namespace limpid::openfx
