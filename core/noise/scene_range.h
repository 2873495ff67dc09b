// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"

namespace limpid::noise {

/// Properties of a scene's samples that its noise is measured by.
struct SceneRange {
  BrightnessScale scale;
  /// Samples are counts of photons: samples of 0 are not clipped.
  bool counts = false;
  /// Nearly all blocks of an RGB picture have a plane at an end of the sample range, as in saturated colors.
  /// They are measured nevertheless, if noise is clipped in no other plane.
  bool saturated = false;

  bool operator==(const SceneRange&) const = default;
};

/// The range of a scene that begins with this frame in host memory. Gray samples of more than 8 bits often
/// fill a small part of their range, as in microscopy; their scale spans the brightnesses of the frame.
/// Frames that fill more than a quarter of the range, and other formats, have the default scale.
///
/// Gray samples are counts if all are multiples of the least one above 0 and the numbers of samples with the
/// counts 0, 1 and 2 are those of Poisson distributions. Any mixture of Poisson distributions has
/// 2 n0 n2 >= n1^2, and 2 n0 n2 = n1^2 if all samples have one mean. Clipping adds samples of 0.
SceneRange scene_range(const Frame& frame);

/// The part of a frame in host memory that lies inside its bars: rows and columns along the border in which
/// brightness is constant. Codecs blur the inner edges of bars, so 8 more rows or columns are left out there.
/// The whole frame if it has no bars of at least 8 rows or columns, or if the part would have a side of less
/// than 64 samples.
Region region_inside_bars(const Frame& frame);

}  // namespace limpid::noise
