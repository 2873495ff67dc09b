#pragma once

namespace limpid::noise {

// What noise estimation has to know about pictures, cameras and codecs that no theory says. The values were
// found by trial on the noise zoo; `noise_zoo tune` tries others (tests/benchmarks/support/noise_zoo).
// Deviations are in 8-bit code values, ratios are those of deviations unless variances or energies are named.

/// Noise that a codec has changed (coded_noise.h).
struct CodedConstants {
  double least_blocks = 24;      ///< blocks that a strip of similar texture needs
  double most_slope = 0.45;      ///< slope_of() the spectrum above which no codec changed the noise
  double slope_of_codecs = 0.2;  ///< slope from which on repetition is measured in full
  /// Slope below which the picture was scaled, which says nothing about repetition.
  double slope_of_scaling = 0.15;
  /// Deviation at the frequencies u + v of 5 and 6, relative to 3 and 4, of noise that no codec changed.
  double fall_of_original = 0.88;
  double fall_of_coded = 0.52;  ///< the same of noise that a codec changed as much as codecs do
  /// Share of the energy of texture left in differences where motion is not followed exactly, in an original.
  double missed_in_original = 0.55;
  double missed_in_coded = 0.35;  ///< the same in coded video
  /// Power of texture above which the energy of differences comes from texture alone.
  double power_of_texture = 0.62;
  double power_of_noise = 0.47;  ///< the same power below which it comes from noise alone
  /// Degree of coding from which on a constant level in differences shows repetition.
  double steady_part = 0.5;
  double unsteady_part = 0.22;  ///< degree of coding below which it shows nothing
  /// Deviation of differences relative to that of the mean of both frames that shows repetition in full.
  double steady_ratio = 0.65;
  double unsteady_ratio = 0.5;  ///< the same that shows nothing
  /// Noise with repetition relative to that of the blocks of a single frame, at most.
  double most_of_repeating = 1.6;
  double clean = 1.8;            ///< squared code values that clean video has as well
  double gain = 1.15;            ///< noise relative to that of differences, in an original
  double most_repetition = 3.8;  ///< additional factor of it in coded video
  /// Deviation of differences relative to that of the mean of both frames up to which noise may repeat.
  double dependent = 1.25;
  double independent = 1.45;  ///< the same beyond which none repeats
  /// Ratio of variances of differences in textured and flat blocks up to which no codec changed them.
  double uniform = 1.1;
  double uneven = 1.4;        ///< the same beyond which a codec did
  double most_of_flat = 1.2;  ///< mean of all blocks relative to the flattest ones, at most, in single frames
};

/// Noise in differences along motion (difference_noise.h).
struct DifferenceConstants {
  double least_blocks = 24;  ///< differences that a class of brightness needs
  /// Share of the differences of a class that chroma, which rarely has texture, is measured on.
  double chroma_share = 0.5;
  /// Share of followed blocks, among those that are neither copies nor constant, below which nothing is
  /// measured.
  double least_followed = 0.25;
  double standard_errors = 3;  ///< distance of the upper bound of a measurement from it
  /// Half octaves of texture above the measured blocks that show how differences grow with texture.
  int textured_step = 4;
  /// Growth of differences, relative to that of texture, of blocks that were not followed at all.
  double most_growth = 1.5;
  double unreliable = 0.8;  ///< uniformity of the blocks of a class up to which it is unreliable
  double reliable = 0.93;   ///< uniformity from which on it is entirely reliable
  double texture = 0.4;     ///< uniformity of blocks whose differences are texture
  double noise = 0.75;      ///< uniformity from which on they are noise alone
  /// Rise of the deviation from one class to the next that an unreliable measurement allows.
  double rise_if_unreliable = 1.06;
  double rise_if_reliable = 4;  ///< the same of a reliable one
  /// Share of the greatest level below which a level no longer limits its neighbors.
  double least_limit = 0.02;
  double hidden = 0.3;           ///< share of the energy of the blocks below which noise is hidden
  double own_weight = 0.1;       ///< weight of the own measurement of a class with hidden noise
  double least_of_curve = 0.05;  ///< least value of a curve
  double most_of_curve = 9;      ///< greatest value of a curve
  /// Share of all blocks that a class needs to count for DifferenceNoise::least_level.
  double least_share = 0.03;
};

/// Noise in single frames (single_noise.h).
struct SingleConstants {
  /// Half octaves of texture above the flattest blocks from which on high frequencies show their growth.
  int first_textured_step = 3;
  int last_textured_step = 8;  ///< half octaves up to which they do
  /// High frequencies of the flattest blocks relative to what that growth predicts, at most.
  double uncertainty = 2;
  double most_of_growth = 0.5;  ///< factor of the growth that limits this
  double first_share = 0.01;    ///< share of the blocks, the flattest, that evenness() compares
  double next_share = 0.05;     ///< share of the blocks that it compares them with
};

/// The choice between both and its limits (noise_statistics.h).
struct DecisionConstants {
  double flat_share = 0.1;    ///< share of the blocks, the flattest, given to coded_noise()
  double white_ratio = 0.85;  ///< slope_of() the spectrum of white noise, at least
  /// Relative difference of the levels of white noise in differences and in single frames, at most.
  double same_white = 0.08;
  /// Visibility below which differences give only bounds of the level of white noise.
  double hidden_visibility = 0.35;
  double hidden_slope = 0.5;  ///< slope that this white noise needs
  /// Ratio of two values of a curve, at most, of noise that is the same at all brightnesses.
  double even_curve = 1.25;
  /// Factor of the deviation of chroma that suits filters best, as its flat blocks can have texture.
  double chroma_gain = 0.94;
  double coded_slope = 0.45;  ///< slope below which a codec has removed high frequencies
  /// Factor of the deviation for what it copied from frame to frame, which differences lack.
  double coded_gain = 1.12;
  /// Relative excess of the noise of single frames over that of differences where all noise repeats.
  double all_repeated = 0.4;
  double most_common = 0.95;  ///< greatest NoiseShape::repetition
  double least_common = 0.1;  ///< least repetition other than 0
  /// Deviation of coded chroma relative to luma, at least: codecs remove nearly all of it from most blocks.
  double coded_chroma = 0.35;
  /// Least level of the curve relative to the flattest blocks of single frames, at most.
  double spread = 1.35;
  /// Variance of luma in differences that clean video with full_texture has, in squared code values.
  double residual_of_luma = 1;
  double residual_of_chroma = 0.25;  ///< the same of chroma
  double residual_of_white = 0.5;    ///< the same of luma where the noise is white
  double full_texture = 12;  ///< deviation of texture from which on clean video has all of that variance
  double negligible = 0.25;  ///< deviation, in quantization steps, that changes no sample
  /// Factor for the flattest blocks of a single picture, where cameras and codecs left the least noise.
  double single_gain = 1.55;
  double most_power_of_stills = 0.3;  ///< growth_power() of noise in a still picture, at most
  double least_flatness = 0.9;  ///< geometric mean of its spectrum relative to the arithmetic mean, at least
  /// Growth_power() of noise in frames whose motion was not followed, at most.
  double most_power_of_clips = 0.55;
  /// Share of copies, among blocks that are not constant, beyond which a picture stands still or was drawn.
  double most_copied = 0.5;
  double many_copied = 0.2;             ///< the same unless the differences of the other blocks are reliable
  double repeated = 0.98;               ///< share of copies beyond which a frame is a repeated one
  double reliable_beside_copies = 0.5;  ///< reliability that differences need beside many copies
  double texture_uniformity = 0.58;     ///< DifferenceNoise::uniformity up to which differences are texture
  double coded_uniformity = 0.66;       ///< uniformity from which on they are noise that may be coded
  double most_chroma = 1.2;             ///< deviation of chroma relative to luma in single frames, at most
  /// Deviation of an opponent channel relative to luma, at least: cameras leave noise outside of flat places.
  double least_opponent_chroma = 0.5;
  /// Deviation of colored noise in single frames, at least; texture looks like less.
  double least_single_sigma = 1.2;
  int texture_frequency = 2;    ///< frequency u + v of chroma from which on it measures texture
  int noise_frequency = 10;     ///< frequency u + v of chroma from which on it measures noise
  double most_uneven = 1.06;    ///< noise of all blocks of chroma relative to the flattest ones, at most
  double least_texture = 1e-3;  ///< texture relative to noise, at least, in the formula of the best strength
  double strength = 0.019;      ///< factor of it: 1 + strength / (texture relative to noise)^strength_power
  double strength_power = 0.7;  ///< power of it
  double most_strength = 1.33;  ///< greatest strength
};

/// What the filter removed (residual.h, core/engine/residual_check.h).
struct ResidualConstants {
  double least_textured_share = 0.2;  ///< share of the blocks that count as textured, at least
  double most_textured_share = 0.5;   ///< the same at most
  int least_blocks = 64;              ///< blocks that a check needs
  /// Share of the expected energy that flat blocks count as having lost, at least.
  double least_removed = 0.02;
  float most_of_noise = 2.0F;  ///< variance of noise in a block relative to its mean, at most
  /// Energy removed from textured blocks relative to flat ones up to which it is noise; cameras and codecs
  /// have 0.5 to 1.3.
  double ratio_of_noise = 1.5;
  double least_strength = 0.15;  ///< factor of the level below which nothing is left of it
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
