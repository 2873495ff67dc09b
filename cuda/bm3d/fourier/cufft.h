// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/base/not_copyable.h"

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

}  // namespace limpid::cuda
