// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::noise {

// Empirical constants of noise estimation, for the properties of pictures, cameras and codecs that theory
// does not provide. Deviations are standard deviations in 8-bit code values. Ratios are of standard
// deviations unless variances or energies are named.

/// Constants for noise in differences along motion (difference_noise.h).
struct DifferenceConstants {
  double least_blocks = 24;  ///< minimum number of differences in a class of brightness
  /// Share of the differences of a class that is used for chroma, which rarely has texture.
  double chroma_share = 0.5;
  /// Minimum share of followed blocks, among blocks that are neither copies nor constant, for a measurement.
  double least_followed = 0.25;
  double standard_errors = 3;  ///< standard errors between a measurement and its upper bound
  /// Distance, in half octaves of texture, between the measured blocks and those that show how differences
  /// grow with texture.
  int textured_step = 4;
  /// Maximum growth of differences relative to the growth of texture. Blocks that were not followed at all
  /// have this growth.
  double most_growth = 1.5;
  double unreliable = 0.8;  ///< maximum uniformity of the blocks of an unreliable class
  double reliable = 0.93;   ///< minimum uniformity of the blocks of a fully reliable class
  double texture = 0.4;     ///< uniformity of blocks whose differences are texture
  double noise = 0.75;      ///< minimum uniformity of blocks whose differences are noise alone
  /// Maximum rise of the deviation from one class to the next if the measurement is unreliable.
  double rise_if_unreliable = 1.06;
  double rise_if_reliable = 4;  ///< maximum rise of the deviation if the measurement is reliable
  /// Share of the greatest level below which a level does not limit the levels of neighboring classes.
  double least_limit = 0.02;
  /// Share of noise in the energy of the blocks below which the noise is hidden.
  double hidden = 0.3;
  double own_weight = 0.1;       ///< weight of a class's own measurement if its noise is hidden
  double least_of_curve = 0.05;  ///< least value of a curve
  double most_of_curve = 9;      ///< greatest value of a curve
  /// Minimum share of all blocks in a class that counts for DifferenceNoise::least_level.
  double least_share = 0.03;
};

/// Constants for noise in single frames (noise_features.h).
struct SingleConstants {
  /// Distance, in half octaves of texture, between the flattest blocks and the first ones that show the
  /// growth of high frequencies.
  int first_textured_step = 3;
  int last_textured_step = 8;  ///< distance to the last blocks that show this growth
  /// Maximum ratio of the flattest blocks' high frequencies to the value predicted from their growth.
  double uncertainty = 2;
  double most_of_growth = 0.5;  ///< factor of the growth for the upper limit of the prediction
  double first_share = 0.01;    ///< share of the flattest blocks, for evenness()
  double next_share = 0.05;     ///< share of the next flattest blocks, for evenness()
  /// Maximum ratio of the level to PatchDeviations::tenth. It is 1.35 in white noise, and 2.5 in coarse
  /// grain.
  double most_of_patches = 3;
  double most_of_coded_patches = 3.5;  ///< the same behind a codec
  double grid_of_codec = 1.15;         ///< PatchDeviations::grid above which a picture was coded in blocks
};

/// Constants for the noise model (noise_statistics.h) and the shape of its noise (noise_features.h).
struct ShapeConstants {
  /// Minimum ratio of the level to the deviation of a measurement that shows the noise's shape.
  double least_share = 0.7;
  double white_slope = 0.85;  ///< minimum of slope_of() the spectrum of white noise
  /// DifferenceNoise::reliability below which a codec has changed the noise from block to block.
  double least_reliability = 0.8;
  double least_slope = 0.125;  ///< slope of such noise, above that of film grain
  double coded_slope = 0.45;   ///< slope below which a codec has removed high frequencies
  /// Ratio of the deviation of coded noise that does not repeat to the deviation of differences.
  double coded_gain = 1.12;
  /// Ratio of the level that filters subsampled chroma best to the deviation of its noise, which the forests
  /// are fitted to.
  double chroma_strength = 1.3;
  double most_repetition = 0.95;  ///< greatest NoiseShape::repetition
  double least_repetition = 0.1;  ///< least nonzero NoiseShape::repetition
  double even_curve = 1.25;       ///< maximum ratio of two values of a curve of noise of any brightness
  /// Range of ratios of the chosen level to that of white noise at which the noise is white.
  double least_of_white = 0.85;
  double most_of_white = 1.3;
  double most_chroma_of_white = 1.6;
  double most_reliable = 0.9;    ///< reliability of differences without texture or coding
  double equal_to_white = 0.15;  ///< octaves between such differences and white noise of the same level
  /// Levels above this one must show in the quietest blocks, of which the lowest thousandth has at least this
  /// share of the level.
  double most_hidden = 20;
  double least_of_quietest = 0.2;
  double negligible = 0.25;  ///< deviation, in quantization steps, that changes no sample
  /// Share of copies, among blocks that are not constant, above which the others are too few to measure.
  double most_copied = 0.95;
  /// Least share of copies in the changing frames of a picture that is repeated otherwise.
  double least_copied = 0.3;
  double mostly_copied = 0.5;         ///< share of copies above which copies are the reason for a level of 0
  double repeated = 0.98;             ///< share of copies above which a frame is a repeated one
  double most_power_of_stills = 0.3;  ///< maximum growth_power() of noise in a held picture
  double least_flatness = 0.9;  ///< minimum ratio of the geometric to the arithmetic mean of its spectrum
};

struct Constants {
  DifferenceConstants difference;
  SingleConstants single;
  ShapeConstants shape;
};

inline constexpr Constants kConstants{};

}  // namespace limpid::noise
