#include "cuda/launch.h"
#include "cuda/matching.h"

// A block of 32 x 8 threads treats 64 x 16 positions: it loads the samples that their patches cover into
// shared memory, smoothing them on the way, sums along rows, then down columns. Bound by memory.

namespace limpid::cuda {
namespace {

constexpr int kColumns = 64;
constexpr int kRows = 16;
constexpr int kThreadsX = 32;
constexpr int kThreadsY = 8;
constexpr int kMaxPatch = 16;

__device__ int matching_value(const MatchingScale& scale, float value) {
  const auto limit = static_cast<float>(scale.limit);
  const float units = (value - 128.0F) * static_cast<float>(scale.scale) + kMatchingBias;
  return __float2int_rn(fminf(fmaxf(units, -limit), limit));
}

// Position x of 0 .. size - 1, beyond which the samples are repeated.
__device__ int clamped(int x, int size) { return min(max(x, 0), size - 1); }

// The neighbours of a sample at the border are mirrored about it.
__device__ float smoothed(const FloatPlane& guide, int x, int y) {
  constexpr float kSide = kGuideKernelSide;
  constexpr float kCentre = kGuideKernelCentre;
  constexpr float kScale = 1.0F / (kGuideKernelSum * kGuideKernelSum);
  const int left = x > 0 ? x - 1 : 1;
  const int right = x < guide.width - 1 ? x + 1 : guide.width - 2;
  const float* row = guide.data + static_cast<std::ptrdiff_t>(y) * guide.pitch;
  const float* above = guide.data + static_cast<std::ptrdiff_t>(y > 0 ? y - 1 : 1) * guide.pitch;
  const float* below =
      guide.data + static_cast<std::ptrdiff_t>(y < guide.height - 1 ? y + 1 : guide.height - 2) * guide.pitch;
  const auto weighted = [&](float sides, float centre) { return kSide * sides + kCentre * centre; };
  const auto column = [&](int i) { return weighted(above[i] + below[i], row[i]); };
  return weighted(column(left) + column(right), column(x)) * kScale;
}

// kPatch is the patch size, or 0 for any other.
template <int kPatch>
__global__ void prepare_kernel(FloatPlane guide, bool smooth, int any_patch, MatchingPlane out) {
  const int patch = kPatch != 0 ? kPatch : any_patch;
  __shared__ short samples[kRows + kMaxPatch - 1][kColumns + kMaxPatch];
  __shared__ int2 row_sums[kRows + kMaxPatch - 1][kColumns];  // of squares, of samples
  const int x0 = blockIdx.x * kColumns - MatchingPlane::kMargin;
  const int y0 = blockIdx.y * kRows - MatchingPlane::kMargin;
  const int columns = kColumns + patch - 1;
  const int rows = kRows + patch - 1;
  for (int row = threadIdx.y; row < rows; row += kThreadsY) {
    const int y = clamped(y0 + row, guide.height);
    for (int column = threadIdx.x; column < columns; column += kThreadsX) {
      const int x = clamped(x0 + column, guide.width);
      const float value =
          smooth ? smoothed(guide, x, y) : guide.data[static_cast<std::ptrdiff_t>(y) * guide.pitch + x];
      samples[row][column] = static_cast<short>(matching_value(out.scale, value));
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < rows; row += kThreadsY) {
    for (int column = threadIdx.x; column < kColumns; column += kThreadsX) {
      int squares = 0;
      int sum = 0;
#pragma unroll
      for (int c = 0; c < patch; ++c) {
        const int value = samples[row][column + c];
        squares += value * value;
        sum += value;
      }
      row_sums[row][column] = {squares, sum};
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kRows; row += kThreadsY) {
    const int y = y0 + row;
    if (y + MatchingPlane::kMargin >= MatchingPlane::rows_of(out.height)) {
      return;
    }
    for (int column = threadIdx.x; column < kColumns; column += kThreadsX) {
      const int x = x0 + column;
      int squares = 0;
      int sum = 0;
#pragma unroll
      for (int r = 0; r < patch; ++r) {
        const int2 sums = row_sums[row + r][column];
        squares += sums.x;
        sum += sums.y;
      }
      const bool inside = x >= 0 && y >= 0 && x <= out.width - patch && y <= out.height - patch;
      const std::ptrdiff_t i =
          static_cast<std::ptrdiff_t>(y + MatchingPlane::kMargin) * out.pitch + x + MatchingPlane::kMargin;
      out.squares[i] = inside ? squares : MatchingPlane::kNoPatch;
      out.sums[i] = sum;
      out.samples[i] = samples[row][column];
    }
  }
}

}  // namespace

void prepare_matching(const FloatPlane& guide, bool smooth, int patch, const MatchingPlane& out,
                      cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(out.pitch) / kColumns,
                  (static_cast<unsigned>(MatchingPlane::rows_of(out.height)) + kRows - 1) / kRows);
  const auto kernel = patch == 8 ? prepare_kernel<8> : prepare_kernel<0>;
  kernel<<<grid, dim3(kThreadsX, kThreadsY), 0, stream>>>(guide, smooth, patch, out);
  check_launch();
}

}  // namespace limpid::cuda
