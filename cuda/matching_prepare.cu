#include "cuda/launch.h"
#include "cuda/matching.h"

// A block of 8 warps treats 64 x 32 positions: it loads the samples that their patches cover into shared
// memory, smooths them, and sums squares and samples along rows, then down columns, eight sums of one another
// by adding what enters and subtracting what leaves. Pitches keep the lanes of a warp in different banks.

namespace limpid::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 8;
constexpr int kColumns = 64;
constexpr int kRows = 32;
constexpr int kRun = 8;
constexpr int kMaxPatch = 16;

__device__ int matching_value(const MatchingScale& scale, float value) {
  const auto limit = static_cast<float>(scale.limit);
  const float units = (value - 128.0F) * static_cast<float>(scale.scale) + kMatchingBias;
  return __float2int_rn(fminf(fmaxf(units, -limit), limit));
}

// Position x of 0 .. size - 1, beyond which the samples are repeated.
__device__ int clamped(int x, int size) { return min(max(x, 0), size - 1); }

// Position x of -1 .. size, where the samples are mirrored about the last one.
__device__ int mirrored(int x, int size) { return x < 0 ? -x : x >= size ? 2 * size - 2 - x : x; }

__device__ float smoothed(const float* sample, int pitch) {
  constexpr float kSide = kGuideKernelSide;
  constexpr float kCentre = kGuideKernelCentre;
  constexpr float kScale = 1.0F / (kGuideKernelSum * kGuideKernelSum);
  const auto weighted = [&](float sides, float centre) { return kSide * sides + kCentre * centre; };
  const auto column = [&](int i) { return weighted(sample[i - pitch] + sample[i + pitch], sample[i]); };
  return weighted(column(-1) + column(1), column(0)) * kScale;
}

// Sums of the squares and of the values of a patch's row or of a patch.
struct Sums {
  int squares;
  int values;
};

__device__ Sums of_value(int value) { return {value * value, value}; }
__device__ Sums operator+(const Sums& a, const Sums& b) {
  return {a.squares + b.squares, a.values + b.values};
}
__device__ Sums operator-(const Sums& a, const Sums& b) {
  return {a.squares - b.squares, a.values - b.values};
}

// kPatch is the patch size, or 0 for any other.
template <int kPatch>
__global__ void __launch_bounds__(kWarps* kWarp)
    prepare_kernel(FloatPlane guide, bool smooth, int any_patch, MatchingPlane out) {
  follow_stream();
  const int patch = kPatch != 0 ? kPatch : any_patch;
  constexpr int kMost = kPatch != 0 ? kPatch : kMaxPatch;
  constexpr int kRawPitch = kColumns + kMost + 1;
  constexpr int kSamplePitch = kColumns + kMost + 2;  // twice an odd number
  __shared__ float raw[(kRows + kMost + 1) * kRawPitch];
  __shared__ short samples[(kRows + kMost - 1) * kSamplePitch];
  __shared__ Sums row_sums[kRows + kMost - 1][kColumns + 1];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const int x0 = blockIdx.x * kColumns - MatchingPlane::kMargin;
  const int y0 = blockIdx.y * kRows - MatchingPlane::kMargin;
  const int columns = kColumns + patch - 1;
  const int rows = kRows + patch - 1;
  // What is loaded begins beside the first sample that is in the plane.
  const int raw_x = clamped(x0, guide.width) - 1;
  const int raw_y = clamped(y0, guide.height) - 1;
  for (int row = warp; row < rows + 2; row += kWarps) {
    const int y = min(raw_y + row, guide.height);
    const float* in = guide.data + static_cast<std::ptrdiff_t>(mirrored(y, guide.height)) * guide.pitch;
#pragma unroll
    for (int column = lane; column < kRawPitch; column += kWarp) {
      raw[row * kRawPitch + column] = in[mirrored(min(raw_x + column, guide.width), guide.width)];
    }
  }
  __syncthreads();
  for (int row = warp; row < rows; row += kWarps) {
    const float* in = raw + (clamped(y0 + row, guide.height) - raw_y) * kRawPitch;
    for (int column = lane; column < columns; column += kWarp) {
      const float* sample = in + clamped(x0 + column, guide.width) - raw_x;
      samples[row * kSamplePitch + column] =
          static_cast<short>(matching_value(out.scale, smooth ? smoothed(sample, kRawPitch) : *sample));
    }
  }
  __syncthreads();
  // A lane to a row.
  for (int i = threadIdx.x; i < rows * (kColumns / kRun); i += kWarps * kWarp) {
    const int row = i % rows;
    const int first = i / rows * kRun;
    const short* in = samples + row * kSamplePitch + first;
    Sums sums{};
#pragma unroll
    for (int c = 0; c < patch; ++c) {
      sums = sums + of_value(in[c]);
    }
#pragma unroll
    for (int c = 0; c < kRun; ++c) {
      row_sums[row][first + c] = sums;
      if (c + 1 < kRun) {
        sums = sums + of_value(in[c + patch]) - of_value(in[c]);
      }
    }
  }
  __syncthreads();
  const int column = threadIdx.x % kColumns;
  const int first = threadIdx.x / kColumns * kRun;
  const int x = x0 + column;
  Sums sums{};
#pragma unroll
  for (int r = 0; r < patch; ++r) {
    sums = sums + row_sums[first + r][column];
  }
#pragma unroll
  for (int r = first; r < first + kRun; ++r) {
    const int y = y0 + r;
    if (y + MatchingPlane::kMargin < MatchingPlane::rows_of(out.height)) {
      const bool inside = x >= 0 && y >= 0 && x <= out.width - patch && y <= out.height - patch;
      const std::ptrdiff_t at =
          static_cast<std::ptrdiff_t>(y + MatchingPlane::kMargin) * out.pitch + x + MatchingPlane::kMargin;
      out.squares[at] = inside ? sums.squares : MatchingPlane::kNoPatch;
      out.sums[at] = sums.values;
      out.samples[at] = samples[r * kSamplePitch + column];
    }
    if (r + 1 < first + kRun) {
      sums = sums + row_sums[r + patch][column] - row_sums[r][column];
    }
  }
}

static_assert(kWarps * kWarp == kColumns * (kRows / kRun), "a thread for each run of a column");

}  // namespace

void prepare_matching(const FloatPlane& guide, bool smooth, int patch, const MatchingPlane& out,
                      cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(out.pitch) / kColumns,
                  (static_cast<unsigned>(MatchingPlane::rows_of(out.height)) + kRows - 1) / kRows);
  const auto kernel = patch == 8 ? prepare_kernel<8> : prepare_kernel<0>;
  launch(kernel, grid, kWarps * kWarp, 0, stream, guide, smooth, patch, out);
}

}  // namespace limpid::cuda
