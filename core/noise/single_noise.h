// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise measured on single frames: on one half of the coefficients, in the blocks with the least energy in
// the other half. Fine texture can look like noise there, so the evidence for each estimate is measured, too.

namespace limpid::noise {

/// The share of a frame's blocks on which the noise of the single frame is measured.
inline constexpr double kSingleShare = 0.03;
inline constexpr double kLeastSingleBlocks = 64;

/// The mean energies of the flattest blocks, including shading, with a DC of 0. Uses `share` of all blocks,
/// but at least `least_blocks`. Nothing if there are fewer blocks.
std::optional<Spectrum> flattest_spectrum(const ChannelStatistics& channel, double share = kSingleShare,
                                          double least_blocks = kLeastSingleBlocks);

/// flattest_spectrum() without shading, and with an estimated DC.
std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, bool luma,
                                        double share = kSingleShare);

/// Ratio of the variance of the flattest blocks to that of the next flattest: 1 in noise, less in texture. 0
/// if there are too few blocks.
double evenness(const ChannelStatistics& channel);

/// Growth of the energy of one half of the coefficients with the energy of the other half among the flattest
/// blocks, as an exponent: 0 for noise, whose coefficients are independent, and about 1 for texture. 1 if
/// unknown.
double growth_power(const ChannelStatistics& channel);

/// The variance of white noise that explains the high frequencies of the flattest blocks, after subtraction
/// of the texture that they may contain. Nothing if there are too few blocks.
std::optional<double> supported_white_variance(const ChannelStatistics& channel);

/// Standard deviation of the samples of all blocks, including texture and noise.
double texture_deviation(const ChannelStatistics& channel);

}  // namespace limpid::noise
