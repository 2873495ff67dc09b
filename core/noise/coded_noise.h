// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise that a codec or a camera's temporal filter has changed. It has lost most of its high frequencies; a
// part of it is common to successive frames and thus missing in their differences; and it is absent from the
// flattest blocks. It is therefore measured on all but the flattest blocks, separated from texture that
// motion did not match exactly, and increased according to its spectrum, which shows the degree of the
// change.

namespace limpid::noise {

struct CodedNoise {
  Spectrum spectrum{};
  double repetition = 0;  ///< NoiseShape::repetition
};

/// The noise of luma; nothing if the differences contain no noise changed by a codec. `flat`: the mean
/// variance of the flattest tenth of the blocks of single frames.
std::optional<CodedNoise> coded_noise(const ChannelStatistics& luma, double flat);

}  // namespace limpid::noise
