#include <cmath>
#include <vector>

#include "core/transforms.h"
#include "cuda/finish.h"
#include "cuda/launch.h"

namespace limpid::cuda {
namespace {

// A block of 32 x 8 threads makes 32 x 32 samples. The weights around them are spread along rows, then down
// columns, by the window, which is an outer product. Bound by memory: 16 bytes per sample.

constexpr int kColumns = 32;
constexpr int kRows = 32;
constexpr int kThreadRows = 8;
constexpr int kMaxPatch = 16;

struct Window {
  float line[kMaxPatch];
  int size;
};

// kPatch is the patch size, or 0 for any other.
template <int kPatch>
__global__ void finish_kernel(AggregationSums sums, Window window, float scale, FloatPlane out) {
  follow_stream();
  __shared__ float weights[kRows + kMaxPatch - 1][kColumns + kMaxPatch - 1];
  __shared__ float spread[kRows + kMaxPatch - 1][kColumns];
  const int k = kPatch != 0 ? kPatch : window.size;
  const int x0 = blockIdx.x * kColumns;
  const int y0 = blockIdx.y * kRows;
  const int rows = kRows + k - 1;
  const int own_x = x0 + threadIdx.x;
  long long numerators[kRows / kThreadRows];  // under way while the weights are spread
#pragma unroll
  for (int i = 0; i < kRows / kThreadRows; ++i) {
    const int y = y0 + threadIdx.y + i * kThreadRows;
    numerators[i] = own_x < out.width && y < out.height
                        ? sums.numerator[static_cast<std::ptrdiff_t>(y) * out.width + own_x]
                        : 0;
  }
#pragma unroll
  for (int row = threadIdx.y; row < rows; row += kThreadRows) {
    const int y = y0 - k + 1 + row;
#pragma unroll
    for (int column = threadIdx.x; column < kColumns + k - 1; column += kColumns) {
      const int x = x0 - k + 1 + column;
      const bool inside = x >= 0 && y >= 0 && x < out.width && y < out.height;
      weights[row][column] =
          inside ? static_cast<float>(sums.weight[static_cast<std::ptrdiff_t>(y) * out.width + x]) : 0.0F;
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < rows; row += kThreadRows) {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < k; ++c) {
      sum = fmaf(weights[row][threadIdx.x + c], window.line[k - 1 - c], sum);
    }
    spread[row][threadIdx.x] = sum;
  }
  __syncthreads();
  scale *= range_unit(sums);
#pragma unroll
  for (int i = 0; i < kRows / kThreadRows; ++i) {
    const int row = threadIdx.y + i * kThreadRows;
    const int y = y0 + row;
    if (own_x >= out.width || y >= out.height) {
      return;
    }
    float denominator = 0;
#pragma unroll
    for (int r = 0; r < k; ++r) {
      denominator = fmaf(spread[row + r][threadIdx.x], window.line[k - 1 - r], denominator);
    }
    out.data[static_cast<std::ptrdiff_t>(y) * out.pitch + own_x] =
        static_cast<float>(numerators[i]) * scale / denominator + sums.offset;
  }
}

}  // namespace

void clear_sums(const AggregationSums& sums, int width, int height, cudaStream_t stream) {
  const std::size_t count = static_cast<std::size_t>(width) * height;
  check(cudaMemsetAsync(sums.numerator, 0, count * sizeof(*sums.numerator), stream));
  check(cudaMemsetAsync(sums.weight, 0, count * sizeof(*sums.weight), stream));
}

void finish(const AggregationSums& sums, const Bm3dStep& step, const FloatPlane& out, cudaStream_t stream) {
  Window window{};
  window.size = step.patch_size;
  const std::vector<double> square = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
  for (int i = 0; i < step.patch_size; ++i) {
    window.line[i] = static_cast<float>(std::sqrt(square[i * step.patch_size + i]));
  }
  const auto blocks = [](int count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  };
  const float scale = std::ldexp(1.0F, sums.weight_bits) / sums.numerator_scale;
  const auto kernel = step.patch_size == 8 ? finish_kernel<8> : finish_kernel<0>;
  launch(kernel, dim3(blocks(out.width, kColumns), blocks(out.height, kRows)), dim3(kColumns, kThreadRows), 0,
         stream, sums, window, scale, out);
}

}  // namespace limpid::cuda
