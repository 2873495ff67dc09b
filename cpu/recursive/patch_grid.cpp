// SPDX-License-Identifier: MIT
#include "cpu/recursive/patch_grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/bm3d/transforms.h"

namespace limpid::cpu {

void PatchGrid::place(int size, int spacing) {
  if (size == size_ && spacing == spacing_) {
    return;
  }
  size_ = size;
  spacing_ = spacing;
  positions_.clear();
  const int last = size - recursive::kPatch;
  for (int position = 0; position < last; position += spacing) {
    positions_.push_back(position);
  }
  positions_.push_back(last);

  const std::vector<double> window = kaiser_window(recursive::kPatch, double{recursive::kKaiserBeta});
  std::vector<double> sums(static_cast<std::size_t>(size));
  for (const int position : positions_) {
    for (int i = 0; i < recursive::kPatch; ++i) {
      // The window is the outer product of a line with itself.
      sums[position + i] += std::sqrt(window[i * recursive::kPatch + i]);
    }
  }
  inverse_weights_.resize(sums.size());
  std::transform(sums.begin(), sums.end(), inverse_weights_.begin(),
                 [](double sum) { return static_cast<float>(1 / sum); });
}

}  // namespace limpid::cpu
