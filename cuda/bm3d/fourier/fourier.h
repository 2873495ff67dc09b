// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/base/not_copyable.h"
#include "core/bm3d/bm3d_parameters.h"
#include "cuda/bm3d/filter.h"

namespace limpid::cuda {

/// A plan of NVIDIA's cuFFT for `batch` transforms of real samples, in place. The first plan loads the
/// library, which is never unloaded. The library is neither linked nor needed for building.
class CufftPlan : NotCopyable {
 public:
  enum class Direction : int { kForward = 0x2a, kInverse = 0x2c };  // CUFFT_R2C, CUFFT_C2R

  /// A transform of `rank` dimensions. A row of the last one has size = `sizes[rank - 1]` samples or size / 2
  /// + 1 complex coefficients and occupies 2 (size / 2 + 1) floats. Throws Error if the library cannot be
  /// loaded or does not support the plan.
  CufftPlan(Direction direction, int rank, const int* sizes, std::size_t batch);
  ~CufftPlan();

  /// Bytes of working memory for execute(); successive plans can share it.
  std::size_t work_bytes() const { return work_bytes_; }
  /// Neither direction scales.
  void execute(float* data, std::byte* work, cudaStream_t stream) const;

 private:
  Direction direction_;
  int plan_ = 0;
  std::size_t work_bytes_ = 0;
};

/// Collaborative filtering in the domain of the discrete Fourier transform. Groups are processed in batches
/// to limit the memory for spectra. A group of n patches of k x k has k^2 n coefficients, half of which are
/// stored; noise gives them the variance k^2 n sigma^2. Step 1 removes coefficients below lambda times the
/// standard deviation, except the DC of the group; step 2 shrinks coefficients by Wiener factors. Weights
/// include the redundant half. Noise is assumed to be white and equal at all brightnesses. These transforms
/// exist for comparisons.
class FourierFilter {
 public:
  /// Prepares for calls with up to `groups` groups of up to `capacity` patches. Throws Error if cuFFT cannot
  /// be loaded.
  FourierFilter(GroupTransform transform, const Bm3dStep& step, int capacity, bool wiener,
                std::size_t groups);

  /// Device memory for filter(), in bytes; successive filters can share it.
  std::size_t scratch_bytes() const;

  /// Filters as filter_any() does. `window` is the aggregation window, in device memory.
  void filter(const FilterJob& job, const float* window, std::byte* scratch, cudaStream_t stream) const;

 private:
  std::size_t spectra_bytes() const;

  GroupTransform transform_;
  int patch_;
  int capacity_;
  bool wiener_;
  std::size_t batch_;  // in groups
  CufftPlan forward_;
  CufftPlan inverse_;
};

}  // namespace limpid::cuda
