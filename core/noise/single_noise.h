#pragma once

#include <optional>

#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise measured on single frames: on the half of a block's coefficients that does not choose the block, in
// the blocks where the other half is least. Fine texture looks like noise there, so each estimate is a claim
// whose support is measured, too.

namespace limpid::noise {

/// A single frame's noise is measured on this share of its blocks.
inline constexpr double kSingleShare = 0.03;
inline constexpr double kLeastSingleBlocks = 64;

/// The mean energies of the flattest blocks, shading among them, the DC's 0. `share` of all blocks, or
/// `least_blocks` if that is more; nothing where there are fewer.
std::optional<Spectrum> flattest_spectrum(const ChannelStatistics& channel, double share = kSingleShare,
                                          double least_blocks = kLeastSingleBlocks);

/// flattest_spectrum() without shading, and with a DC.
std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, bool luma,
                                        double share = kSingleShare);

/// The variance of the flattest blocks relative to that of those that follow: 1 in noise; less in texture,
/// which grows. 0 where there are too few blocks.
double evenness(const ChannelStatistics& channel);

/// How the energy of one half of the coefficients grows with that of the other among the flattest blocks, as
/// a power: 0 in noise, whose coefficients are independent, and about 1 in texture. 1 where that can't be
/// told.
double growth_power(const ChannelStatistics& channel);

/// The variance of white noise that the high frequencies of the flattest blocks support when all that they
/// may have of texture is subtracted. Nothing where there are too few blocks.
std::optional<double> supported_white_variance(const ChannelStatistics& channel);

/// The deviation of all blocks' samples: how much a picture has of texture and noise together.
double texture_deviation(const ChannelStatistics& channel);

}  // namespace limpid::noise
