// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// A test that requires a GPU. Skipped, with the reason, without one.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no GPU: " << cudaGetErrorString(status);
    }
  }
};

/// The first `count` values in device memory, after all earlier work.
template <typename T>
std::vector<T> to_host(const DeviceMemory& memory, std::size_t count) {
  check(cudaDeviceSynchronize());
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), memory.as(), count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace limpid::cuda
