#pragma once

namespace limpid {

struct MotionParameters {
  /// Whether MotionField::quarters are found, too. Filters gain by them: moving textures differ by a
  /// quarter to a half less along them. Noise is measured along whole samples, since interpolation smooths
  /// it.
  bool quarters = false;
};

}  // namespace limpid
