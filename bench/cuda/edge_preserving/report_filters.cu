// SPDX-License-Identifier: MIT
#include "bench/cuda/edge_preserving/report_filters.h"
#include "cuda/runtime/launch.h"

// One thread per sample, in blocks of 16 x 16.

namespace limpid::report {
namespace {

constexpr int kSide = 16;
constexpr int kRangeWeights = 256;
constexpr int kPatchRadius = 3;

enum class Kind : std::uint8_t { kBilateral, kAdaptive, kNlm };

struct Arguments {
  Image in;
  Image out;
  Weights weights;
  float patch_sigma;
};

template <bool kTables, bool kTile>
struct Samples {
  const Arguments& arguments;
  const float* range_weights;
  const float* spatial_weights;
  const std::uint8_t* tile;
  int margin;

  __device__ bool inside(int x, int y) const {
    return x >= 0 && x < arguments.in.width && y >= 0 && y < arguments.in.height;
  }
  __device__ float at(int x, int y) const {
    if constexpr (kTile) {
      const int pitch = kSide + 2 * margin;
      return tile[(y - static_cast<int>(blockIdx.y) * kSide + margin) * pitch + x -
                  static_cast<int>(blockIdx.x) * kSide + margin];
    } else {
      return arguments.in.data[y * arguments.in.width + x];
    }
  }
  __device__ float range_weight(float difference) const {
    if constexpr (kTables) {
      return range_weights[static_cast<int>(fabsf(difference))];
    } else {
      const float sigma = arguments.weights.range_sigma;
      return expf(-difference * difference / (2 * sigma * sigma));
    }
  }
  __device__ float spatial_weight(int dx, int dy) const {
    if constexpr (kTables) {
      const int radius = arguments.weights.radius;
      return spatial_weights[(dy + radius) * (2 * radius + 1) + dx + radius];
    } else {
      const float sigma = arguments.weights.spatial_sigma;
      return expf(-static_cast<float>(dx * dx + dy * dy) / (2 * sigma * sigma));
    }
  }
  __device__ float patch_weight(int x, int y, int dx, int dy) const {
    float sum = 0;
    int count = 0;
    for (int v = -kPatchRadius; v <= kPatchRadius; ++v) {
      for (int u = -kPatchRadius; u <= kPatchRadius; ++u) {
        if (inside(x + u, y + v) && inside(x + u + dx, y + v + dy)) {
          const float difference = at(x + u, y + v) - at(x + u + dx, y + v + dy);
          sum += difference * difference;
          ++count;
        }
      }
    }
    const float sigma = arguments.patch_sigma;
    return expf(-sum / (2 * sigma * sigma * static_cast<float>(count)));
  }
};

template <Kind kKind, bool kTables, bool kTile>
__global__ void filter_kernel(Arguments arguments) {
  extern __shared__ float shared[];
  const int radius = arguments.weights.radius;
  const int taps = (2 * radius + 1) * (2 * radius + 1);
  const int table_size = kTables ? kRangeWeights + taps : 0;
  auto* tile = reinterpret_cast<std::uint8_t*>(shared + table_size);
  const int margin = radius + (kKind == Kind::kNlm ? kPatchRadius : 0);
  const int thread = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
  for (int i = thread; i < table_size; i += kSide * kSide) {
    shared[i] = arguments.weights.tables[i];
  }
  if constexpr (kTile) {
    const int pitch = kSide + 2 * margin;
    for (int i = thread; i < pitch * pitch; i += kSide * kSide) {
      const int x = static_cast<int>(blockIdx.x) * kSide - margin + i % pitch;
      const int y = static_cast<int>(blockIdx.y) * kSide - margin + i / pitch;
      const Image& in = arguments.in;
      tile[i] = in.data[min(max(y, 0), in.height - 1) * in.width + min(max(x, 0), in.width - 1)];
    }
  }
  __syncthreads();
  const int x = static_cast<int>(blockIdx.x * kSide + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kSide + threadIdx.y);
  if (x >= arguments.in.width || y >= arguments.in.height) {
    return;
  }
  const Samples<kTables, kTile> samples{arguments, shared, shared + kRangeWeights, tile, margin};
  const float own = samples.at(x, y);
  float weight = 0;
  float sum = 0;
  float squares = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      if (samples.inside(x + dx, y + dy)) {
        const float value = samples.at(x + dx, y + dy);
        float w = samples.range_weight(value - own);
        w *= kKind == Kind::kNlm ? samples.patch_weight(x, y, dx, dy) : samples.spatial_weight(dx, dy);
        weight += w;
        sum += w * value;
        squares += w * (value - own) * (value - own);
      }
    }
  }
  if constexpr (kKind == Kind::kAdaptive) {
    const float sigma = 0.5F * sqrtf(squares / weight + 0.01F);
    weight = 0;
    sum = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
      for (int dx = -radius; dx <= radius; ++dx) {
        if (samples.inside(x + dx, y + dy)) {
          const float value = samples.at(x + dx, y + dy);
          const float difference = value - own;
          const float w =
              expf(-difference * difference / (2 * sigma * sigma)) * samples.spatial_weight(dx, dy);
          weight += w;
          sum += w * value;
        }
      }
    }
  }
  arguments.out.data[y * arguments.out.width + x] = static_cast<std::uint8_t>(sum / weight + 0.5F);
}

template <Kind kKind>
void launch(const Variant& variant, const Arguments& arguments, cudaStream_t stream) {
  const int radius = arguments.weights.radius;
  const int pitch = kSide + 2 * (radius + (kKind == Kind::kNlm ? kPatchRadius : 0));
  const std::size_t tables =
      sizeof(float) * static_cast<std::size_t>(kRangeWeights + (2 * radius + 1) * (2 * radius + 1));
  const std::size_t bytes =
      (variant.tables ? tables : 0) + (variant.tile ? static_cast<std::size_t>(pitch) * pitch : 0);
  const dim3 grid(static_cast<unsigned>((arguments.in.width + kSide - 1) / kSide),
                  static_cast<unsigned>((arguments.in.height + kSide - 1) / kSide));
  const auto kernel =
      variant.tables
          ? (variant.tile ? filter_kernel<kKind, true, true> : filter_kernel<kKind, true, false>)
          : (variant.tile ? filter_kernel<kKind, false, true> : filter_kernel<kKind, false, false>);
  kernel<<<grid, dim3(kSide, kSide), bytes, stream>>>(arguments);
  cuda::check_launch();
}

}  // namespace

void bilateral(const Variant& variant, const Image& in, const Weights& weights, const Image& out,
               cudaStream_t stream) {
  launch<Kind::kBilateral>(variant, {in, out, weights, 0}, stream);
}

void adaptive_bilateral(const Variant& variant, const Image& in, const Weights& weights, const Image& out,
                        cudaStream_t stream) {
  launch<Kind::kAdaptive>(variant, {in, out, weights, 0}, stream);
}

void nlm_bilateral(const Variant& variant, const Image& in, const Weights& weights, float patch_sigma,
                   const Image& out, cudaStream_t stream) {
  launch<Kind::kNlm>(variant, {in, out, weights, patch_sigma}, stream);
}

}  // namespace limpid::report
