#pragma once

#include <optional>

#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise that a codec, or a camera's own filter over time, has worked on. Of its high frequencies little is
// left, a part of it is common to successive frames, which their differences lack, and from the flattest
// blocks it is gone. So it is measured on all but these, told from texture that was not followed exactly, and
// made greater by what its spectrum tells of how much was done to it.

namespace limpid::noise {

struct CodedNoise {
  Spectrum spectrum{};
  double repetition = 0;  ///< as NoiseShape has it
};

/// Luma's noise; nothing where differences tell of no such noise. `flat`: the mean variance of a tenth of
/// single frames' blocks, the flattest.
std::optional<CodedNoise> coded_noise(const ChannelStatistics& luma, double flat);

}  // namespace limpid::noise
