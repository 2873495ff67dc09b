// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// The brightness distribution of a picture: the share of each level, dark levels first, among the means of
/// cells across the picture. It is small, and insensitive to motion and, because cells are means, to noise. A
/// large change indicates a scene cut.
using BrightnessHistogram = std::array<float, 32>;

/// The means of the cells of a frame in host memory, in 8-bit code values, and their histogram.
std::vector<float> brightness_cells(const Frame& frame);
BrightnessHistogram brightness_histogram(const Frame& frame);

/// True if a scene ends between two frames with these histograms.
bool is_cut(const BrightnessHistogram& before, const BrightnessHistogram& after);

// The cells and levels. Constant expressions for device code.

inline constexpr int kBrightnessCells = 32;  ///< along each side
/// Side of a cell in samples, if the picture is large enough.
inline constexpr int kBrightnessCellSide = 8;
/// The position of the i-th cell along a side of `length` samples.
constexpr int brightness_cell(int side, int length, int i) {
  return static_cast<int>(std::int64_t{side - length + 1} * i / kBrightnessCells);
}

constexpr int brightness_level(float code_value) {
  constexpr int kLevels = static_cast<int>(BrightnessHistogram().size());
  constexpr auto kLast = static_cast<float>(kLevels - 1);
  return code_value > 0 ? static_cast<int>(std::min(code_value * kLevels / 256, kLast)) : 0;
}

/// The number of the plane whose brightness is measured.
inline int brightness_plane(const FrameFormat& format) {
  return format.color_model == ColorModel::kRgb ? 1 : 0;
}

}  // namespace limpid
