// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/recursive/recursion.h"

namespace limpid::cpu {

/// The patches along one axis of a plane: every `spacing` samples, and one that ends at the border.
class PatchGrid {
 public:
  /// Places the patches along an axis of `size` samples, which must be at least the size of a patch.
  void place(int size, int spacing);

  const std::vector<int>& positions() const { return positions_; }
  int count() const { return static_cast<int>(positions_.size()); }
  /// The reciprocals of the sums of the aggregation windows that cover each sample.
  const std::vector<float>& inverse_weights() const { return inverse_weights_; }

 private:
  int size_ = 0;
  int spacing_ = 0;
  std::vector<int> positions_;
  std::vector<float> inverse_weights_;
};

}  // namespace limpid::cpu
