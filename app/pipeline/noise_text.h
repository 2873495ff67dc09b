// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/stream/noise_control.h"

namespace limpid::app {

// Noise models in words.

/// A level with one decimal, or below 1 with two significant digits: "6.9", "0.031".
std::string level_text(float sigma);
/// The level in the samples of integers of more than 12 bits, " (8 of 65535)"; empty for other formats.
std::string steps_text(float sigma, const FrameFormat& format);
/// The levels of the planes, with steps_text(): "Y 6.9, U 4.3, V 5.7".
std::string plane_levels_text(const NoiseModel& noise, const FrameFormat& format);

/// A part of a model that is printed separately: the noise of a plane, or of an opponent channel of RGB.
struct ChannelNoise {
  std::string name;
  PlaneNoise noise;
  /// True if `noise` has its own shape. RGB planes have none of their own beside opponent channels.
  bool has_shape = true;
};
std::vector<ChannelNoise> channels_of(const NoiseModel& noise, ColorModel color_model);

/// Standard deviations of coefficients of low, middle and high frequencies. They are equal for white noise.
struct Bands {
  float low = 0;
  float middle = 0;
  float high = 0;
};
Bands bands_of(const PlaneNoise& noise);

/// "none found", "white", "smooth" if high frequencies are weaker than low ones, or "not white".
std::string_view kind_of(const PlaneNoise& noise);

/// How visible noise of this standard deviation is: "none", "faint" (below 3), "visible", or "strong" (10 and
/// above).
std::string_view visibility_of(float sigma);

/// The share of the noise that is common to successive frames: "65 % repeats"; empty if there is none.
std::string repetition_text(const PlaneNoise& noise);

/// The evidence for an estimate: "certainty 92 %"; without an estimate the reason, such as "not measurable,
/// because frames repeat". With the area that has the noise, if it is not the whole picture. Empty for given
/// noise.
std::string evidence_text(const NoiseEstimate& noise);

/// The name of a NoiseSource in reports: "motion", "single frames", "repeated frames", ...
std::string_view source_name(NoiseSource source);

/// The channels whose noise is smooth or otherwise not white, and the share of luma's noise that repeats:
/// "smooth", "smooth in Y", "smooth; 65 % repeats". Empty if all noise is white and none repeats.
std::string shape_text(const NoiseModel& noise, ColorModel color_model);

/// Logs estimates that are new or have changed markedly, and the levels of the filter if there is a strength.
/// Warns if `settings` result in no denoising. `is_watched`: estimates are debug messages, as a
/// window shows them.
NoiseControl::Listener noise_log(const NoiseSettings& settings, bool is_watched = false);

}  // namespace limpid::app
