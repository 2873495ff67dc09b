// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <functional>
#include <span>
#include <vector>

#include "core/recursive/recursion.h"
#include "cpu/recursive/padded_plane.h"
#include "cpu/recursive/recursive_kernels.h"
#include "cpu/runtime/aligned_vector.h"

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

/// Runs one step over the patches of a plane, in bands of rows on the threads of the caller's arena. Results
/// do not depend on the number of threads. Keeps its working memory.
class PlaneMerger {
 public:
  /// Function that sets the variance of the state and the factor of the noise variance for each patch of row
  /// `y`.
  using PrepareRow =
      std::function<void(int y, std::span<const int> xs, std::span<float> states, std::span<float> factors)>;

  /// Places patches in a plane of this size, which must be at least the size of a patch.
  void place(int width, int height, int spacing);

  /// Writes the estimate and, unless it is null, the merged picture.
  void run(const PatchStep& step, const PrepareRow& prepare, PaddedPlane& estimate, PaddedPlane* merged);

  /// The share of patches of the last run that had no prior.
  float unknown_share() const;
  /// Means of the last run's gains over the patches whose centers are in each cell of 8 x 8 samples. Patches
  /// beyond the last whole cell count in the nearest cell.
  void average_gains(int columns, int rows, std::vector<float>& cells) const;

 private:
  // Rows of patches, and the rows of samples that they cover.
  struct Band {
    int first_row = 0;
    int last_row = 0;
    int top = 0;
    int bottom = 0;
  };
  struct Sums {
    AlignedVector<float> estimates;
    AlignedVector<float> weights;
    AlignedVector<float> merged;
    void resize(std::size_t size);
  };
  struct Scratch {
    Sums sums;
    std::vector<float> states;
    std::vector<float> factors;
  };
  // Where the results go.
  struct Target {
    PaddedPlane* estimate = nullptr;
    PaddedPlane* merged = nullptr;
  };

  void run_band(int number, const PatchStep& step, const PrepareRow& prepare, const Target& target);
  void join_bands(int number, const Target& target);
  void finish(int y, const Sums& sums, int row_of_sums, const Target& target) const;
  std::size_t offset(int row) const { return static_cast<std::size_t>(row) * pitch_; }

  int width_ = 0;
  int height_ = 0;
  std::size_t pitch_ = 0;
  PatchGrid columns_;
  PatchGrid rows_;
  std::vector<Band> bands_;
  std::vector<Sums> heads_;  // of the rows that a band shares with the one before it
  std::vector<Sums> tails_;  // and with the one after it
  std::vector<float> gains_;
  std::vector<unsigned char> unknown_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

}  // namespace limpid::cpu
