// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"

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

namespace limpid::noise {

/// The range of a scene that begins with this frame in host memory. Gray samples of more than 8 bits often
/// fill a small part of their range, as in microscopy; their scale spans the brightnesses of the frame.
/// Frames that fill more than a quarter of the range, and other formats, have the default scale.
///
/// Gray samples are counts if all are multiples of the least one above 0 and the numbers of samples with the
/// counts 0, 1 and 2 are those of Poisson distributions. Any mixture of Poisson distributions has
/// 2 n0 n2 >= n1^2, and 2 n0 n2 = n1^2 if all samples have one mean. Clipping adds samples of 0.
SceneRange scene_range(const Frame& frame);

/// The deviations of patches across a frame in host memory; of interlaced frames, across the first field.
/// Patches with samples at the ends of the range do not count. Nothing if fewer than 64 patches count.
std::optional<PatchDeviations> patch_deviations(const Frame& frame, const SceneRange& range);

/// The part of a frame in host memory that lies inside its bars: rows and columns along the border in which
/// brightness is constant. Codecs blur the inner edges of bars, so 8 more rows or columns are left out there.
/// The whole frame if it has no bars of at least 8 rows or columns, or if the part would have a side of less
/// than 64 samples.
Region region_inside_bars(const Frame& frame);

/// True if nearly all that changes in three successive frames in host memory changes by equal steps, as in a
/// fade or a dissolve between still pictures. Noise of these frames is weaker than a fifth of the steps.
/// Compares cells of BrightnessHistogram, sample by sample.
bool is_fade(const Frame& first, const Frame& second, const Frame& third);

/// Finds a rectangle of the picture that changes while the rest stands still, as a webcam in
/// a recording of a screen. Noise changes most samples of the rectangle again and again. Windows that open
/// change once, and codecs change few samples of the rest.
/// Compares the samples of the first plane.
class ChangingArea {
 public:
  /// Takes the next frame of a scene, in host memory. All frames must have one format.
  void add(const Frame& frame);
  /// The rectangle in the frames so far, in whole blocks of 16 x 16 samples. Nothing if there is none that
  /// has sides of at least 64 samples, covers at most 60 % of the picture and contains nearly all changes.
  std::optional<Region> find() const;

 private:
  std::optional<Frame> last_;
  int columns_ = 0;  ///< of blocks
  int rows_ = 0;
  int pairs_ = 0;             ///< of successive frames
  std::vector<int> changes_;  ///< number of pairs between which a block has changed
};

}  // namespace limpid::noise
