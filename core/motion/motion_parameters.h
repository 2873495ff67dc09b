// SPDX-License-Identifier: MIT
#pragma once

namespace limpid {

struct MotionParameters {
  /// True to compute MotionField::quarters. Filters benefit: in moving textures, differences along
  /// quarter-sample motion are a quarter to a half smaller. Noise is measured along whole samples, because
  /// interpolation smooths noise.
  bool quarters = false;
};

}  // namespace limpid
