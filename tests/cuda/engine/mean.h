// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/runtime/planes.h"

namespace limpid::cuda {

/// The weighted mean of the samples of up to three frames, of 8 bits; missing frames are null.
struct Mean {
  std::array<const std::uint8_t*, 3> in{};
  std::ptrdiff_t in_stride = 0;
  std::uint8_t* out = nullptr;
  std::ptrdiff_t out_stride = 0;
  int width = 0;
  int height = 0;
  int add = 0;

  LIMPID_HOST_DEVICE void compute(int x, int y) const {
    int sum = 0;
    int weights = 0;
    for (int i = 0; i < 3; ++i) {
      if (in[i] != nullptr) {
        sum += (i + 1) * in[i][y * in_stride + x];
        weights += i + 1;
      }
    }
    out[y * out_stride + x] = static_cast<std::uint8_t>(sum / weights + add);
  }
};

/// Enqueues it to a GPU's stream.
void launch_mean(const Mean& mean, cudaStream_t stream);

}  // namespace limpid::cuda
