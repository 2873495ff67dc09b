#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// How a picture's brightness is distributed: the shares of its levels, dark ones first, among the means of
/// cells all over it. Small and robust to motion and, as cells are, to noise, so that a change tells of a
/// scene cut.
using BrightnessHistogram = std::array<float, 32>;

/// The histogram of a frame in host memory.
BrightnessHistogram brightness_histogram(const Frame& frame);

/// The scale for the noise of a scene that begins with this frame in host memory. Gray samples of more than 8
/// bits often fill a small part of their range, as those of microscopes do: their scale spans the
/// brightnesses of the frame. It is the usual one for other formats, and where the frame fills more than a
/// quarter of the range.
BrightnessScale brightness_scale(const Frame& frame);
/// Whether brightness_scale() depends on the samples of frames in this format.
bool has_brightness_scale(const FrameFormat& format);

/// Whether a scene ends between two frames with these histograms.
bool is_cut(const BrightnessHistogram& before, const BrightnessHistogram& after);

// The cells and levels, constant expressions that device code may use.

inline constexpr int kBrightnessCells = 32;  ///< along each side
/// How many samples a cell has along a side, if the picture has so many.
inline constexpr int kBrightnessCellSide = 8;
/// Where the i-th cell begins that has `length` samples of a side's.
constexpr int brightness_cell(int side, int length, int i) {
  return static_cast<int>(std::int64_t{side - length + 1} * i / kBrightnessCells);
}

constexpr int brightness_level(float code_value) {
  constexpr int kLevels = static_cast<int>(BrightnessHistogram().size());
  constexpr auto kLast = static_cast<float>(kLevels - 1);
  return code_value > 0 ? static_cast<int>(std::min(code_value * kLevels / 256, kLast)) : 0;
}

/// The plane that is looked at.
inline int brightness_plane(const FrameFormat& format) {
  return format.color_model == ColorModel::kRgb ? 1 : 0;
}

}  // namespace limpid
