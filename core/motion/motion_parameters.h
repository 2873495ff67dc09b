#pragma once

namespace limpid {

struct MotionParameters {
  /// True to compute MotionField::quarters. Filters benefit: moving textures differ by a quarter to a half
  /// less along them. Noise is measured along whole samples, since interpolation smooths it.
  bool quarters = false;
};

}  // namespace limpid
