#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/bm3d/bm3d_parameters.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/fourier/cufft.h"

namespace limpid::cuda {

/// Collaborative filtering in the discrete Fourier transform's domain, in batches of groups, whose spectra
/// take bounded memory. A group of n patches of k x k has k^2 n coefficients, of which half are stored; noise
/// gives them the variance k^2 n sigma^2. Step 1 removes those under lambda times that deviation, but for the
/// group's DC; step 2 shrinks them as usual. Weights count the redundant half, too. Noise is taken to be
/// white, of the same deviation at every brightness: these transforms are for comparisons.
class FourierFilter {
 public:
  /// For calls with up to `groups` groups of up to `capacity` patches. Throws Error if cuFFT can't be loaded.
  FourierFilter(GroupTransform transform, const Bm3dStep& step, int capacity, bool wiener,
                std::size_t groups);

  /// Device memory that filter() needs, in bytes; one piece serves filters that follow each other.
  std::size_t scratch_bytes() const;

  /// Does what filter_any() does. `window` is the aggregation window, in device memory.
  void filter(const FilterJob& job, const float* window, std::byte* scratch, cudaStream_t stream) const;

 private:
  std::size_t spectra_bytes() const;

  GroupTransform transform_;
  int patch_;
  int capacity_;
  bool wiener_;
  std::size_t batch_;  // groups
  CufftPlan forward_;
  CufftPlan inverse_;
};

}  // namespace limpid::cuda
