// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::noise {

// Empirical constants of noise estimation, for the properties of pictures, cameras and codecs that theory
// does not provide. Tuned on the noise zoo; `noise_zoo tune` tries other values
// (tests/benchmarks/support/noise_zoo). Deviations are standard deviations in 8-bit code values. Ratios are
// of standard deviations unless variances or energies are named.

/// Constants for noise that a codec has changed (coded_noise.h).
struct CodedConstants {
  double least_blocks = 24;      ///< minimum number of blocks in a strip of similar texture
  double most_slope = 0.45;      ///< maximum of slope_of() the spectrum for noise changed by a codec
  double slope_of_codecs = 0.2;  ///< minimum slope at which repetition is measured in full
  /// Slope below which the picture is assumed to be scaled, so that the slope does not indicate repetition.
  double slope_of_scaling = 0.15;
  /// Ratio of deviations at the frequencies u + v of 5 and 6 to those of 3 and 4, in noise that no codec
  /// changed.
  double fall_of_original = 0.88;
  double fall_of_coded = 0.52;  ///< the same ratio of deviations in fully coded noise
  /// Share of the energy of texture that remains in differences where motion is not followed exactly, in
  /// original video.
  double missed_in_original = 0.55;
  double missed_in_coded = 0.35;  ///< share of texture that remains in differences of coded video
  /// Power of texture above which the energy of differences comes from texture alone.
  double power_of_texture = 0.62;
  /// Power of texture below which the energy of differences comes from noise alone.
  double power_of_noise = 0.47;
  /// Minimum degree of coding at which a constant level in differences indicates repetition.
  double steady_part = 0.25;
  /// Degree of coding below which a constant level does not indicate repetition.
  double unsteady_part = 0.05;
  /// Ratio of the deviation of differences to the deviation of the mean of both frames that indicates full
  /// repetition.
  double steady_ratio = 0.65;
  /// Ratio of the deviation of differences to the deviation of the mean that indicates no repetition.
  double unsteady_ratio = 0.5;
  /// Maximum ratio of noise with repetition to the noise of the blocks of a single frame.
  double most_of_repeating = 1.6;
  double clean = 1.8;  ///< variance of clean video, in squared code values
  double gain = 1.15;  ///< ratio of noise to the noise of differences, in original video
  /// Additional factor of the ratio of noise to the noise of differences, in coded video.
  double most_repetition = 3.8;
  /// Maximum ratio of the deviation of differences to the deviation of the mean of both frames at which noise
  /// may repeat.
  double dependent = 1.25;
  /// Ratio of the deviation of differences to the deviation of the mean above which no noise repeats.
  double independent = 1.45;
  /// Maximum ratio of the variances of differences in textured and flat blocks at which no codec changed
  /// them.
  double uniform = 1.1;
  double uneven = 1.4;        ///< ratio of these variances above which a codec changed the differences
  double most_of_flat = 1.2;  ///< maximum ratio of the mean of all blocks to the flattest ones, in single
                              ///< frames
};

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

/// Constants for noise in single frames (single_noise.h).
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
};

/// Constants for the choice between both measurements, and its limits (noise_statistics.h).
struct DecisionConstants {
  double flat_share = 0.1;    ///< share of the flattest blocks that is passed to coded_noise()
  double white_ratio = 0.85;  ///< minimum of slope_of() the spectrum of white noise
  /// Maximum relative difference between the levels of white noise in differences and in single frames.
  double same_white = 0.08;
  /// Visibility below which differences only limit the level of white noise.
  double hidden_visibility = 0.35;
  double hidden_slope = 0.5;  ///< minimum slope of white noise that is limited by differences
  /// Maximum ratio of two values of a curve if the noise is equal at all brightnesses.
  double even_curve = 1.25;
  /// Factor of chroma's deviation that gives the best filtering, because flat blocks of chroma can have
  /// texture.
  double chroma_gain = 0.94;
  double coded_slope = 0.45;  ///< slope below which a codec has removed high frequencies
  /// Factor of the deviation if a codec copied noise from frame to frame, because copied noise is missing in
  /// differences.
  double coded_gain = 1.12;
  /// Relative excess of the noise of single frames over the noise of differences if all noise repeats.
  double all_repeated = 0.4;
  double most_common = 0.95;  ///< greatest NoiseShape::repetition
  double least_common = 0.1;  ///< least nonzero NoiseShape::repetition
  /// Minimum deviation of coded chroma relative to luma: codecs remove nearly all chroma noise from most
  /// blocks.
  double coded_chroma = 0.35;
  /// Maximum of the least level of the curve relative to the flattest blocks of single frames.
  double spread = 1.35;
  /// Maximum variance of luma in differences of clean video with full_texture, in squared code values.
  double residual_of_luma = 1;
  double residual_of_chroma = 0.25;  ///< maximum variance of chroma in differences of such video
  /// Maximum variance of luma in differences of such video if the noise is white.
  double residual_of_white = 0.5;
  double full_texture = 12;  ///< deviation of texture at which clean video reaches these variances
  double negligible = 0.25;  ///< deviation, in quantization steps, that changes no sample
  /// Factor for the flattest blocks of a single picture, where cameras and codecs leave the least noise.
  double single_gain = 1.55;
  double most_power_of_stills = 0.3;  ///< maximum growth_power() of noise in a still picture
  double least_flatness = 0.9;  ///< minimum ratio of the geometric to the arithmetic mean of its spectrum
  /// Maximum growth_power() of noise in frames whose motion was not followed.
  double most_power_of_clips = 0.55;
  /// Share of copies, among blocks that are not constant, above which a picture is still or a drawing.
  double most_copied = 0.5;
  double many_copied = 0.2;             ///< the same share if the differences of the other blocks are not
                                        ///< reliable
  double repeated = 0.98;               ///< share of copies above which a frame is a repeated one
  double reliable_beside_copies = 0.5;  ///< minimum reliability of differences that accompany many copies
  /// Maximum DifferenceNoise::uniformity at which differences are texture.
  double texture_uniformity = 0.58;
  double coded_uniformity = 0.66;  ///< minimum uniformity at which differences are noise, perhaps coded
  /// Share of followed blocks below which differences that are not uniform are no evidence of coded noise.
  double partly_followed = 0.75;
  double fully_followed = 0.95;  ///< share of followed blocks above which they are full evidence
  double most_chroma = 1.2;      ///< maximum deviation of chroma relative to luma in single frames
  /// Minimum deviation of an opponent channel relative to luma: cameras leave noise outside flat areas.
  double least_opponent_chroma = 0.5;
  /// Minimum deviation of colored noise in single frames; less may be texture.
  double least_single_sigma = 1.2;
  int texture_frequency = 2;    ///< maximum frequency u + v of chroma that measures texture
  int noise_frequency = 10;     ///< minimum frequency u + v of chroma that measures noise
  double most_uneven = 1.06;    ///< maximum ratio of the noise of all blocks of chroma to that of the
                                ///< flattest ones
  double least_texture = 1e-3;  ///< minimum ratio of texture to noise in the formula of the best strength
  double strength = 0.019;      ///< factor in that formula: 1 + strength / (texture relative to
                                ///< noise)^strength_power
  double strength_power = 0.7;  ///< power in the formula of the best strength
  double most_strength = 1.33;  ///< maximum strength
};

/// Constants for the check of the filter's residual (residual.h, core/engine/residual_check.h).
struct ResidualConstants {
  double least_textured_share = 0.2;  ///< minimum share of blocks that count as textured
  double most_textured_share = 0.5;   ///< maximum share of blocks that count as textured
  int least_blocks = 64;              ///< minimum number of blocks for a check
  /// Minimum share of the expected energy that is assumed to be removed from flat blocks.
  double least_removed = 0.02;
  float most_of_noise = 2.0F;  ///< maximum variance of noise in a block relative to its mean
  /// Maximum ratio, for noise, of the energy removed from textured blocks to that removed from flat blocks.
  /// For noise of cameras and codecs, the ratio is 0.5 to 1.3.
  double ratio_of_noise = 1.5;
  double least_strength = 0.15;  ///< factor of the level below which the level becomes 0
};

struct Constants {
  CodedConstants coded;
  DifferenceConstants difference;
  SingleConstants single;
  DecisionConstants decision;
  ResidualConstants residual;
};

inline constexpr Constants kConstants{};

}  // namespace limpid::noise
