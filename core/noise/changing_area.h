// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/region.h"

namespace limpid::noise {

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
