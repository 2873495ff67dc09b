// SPDX-License-Identifier: MIT

#include "cuda/runtime/convert.h"
#include "cuda/runtime/launch.h"

namespace limpid::cuda {
namespace {

constexpr int kRowsPerThread = 4;

// Calls move(x, y) for each of a thread's samples of a plane.
template <typename Move>
__device__ __forceinline__ void for_each_sample(const Plane& plane, const Move& move) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kRowsPerThread;
  if (x >= plane.width) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    if (y + i < plane.height) {
      move(x, y + i);
    }
  }
}

template <typename Sample>
__global__ void unpack_kernel(Plane from, int padding_bits, SamplePlane out) {
  follow_stream();
  for_each_sample(from, [&](int x, int y) {
    const auto* in = reinterpret_cast<const Sample*>(from.data + y * from.stride);
    reinterpret_cast<Sample*>(out.data + y * out.stride)[x] =
        without_padding(in[static_cast<std::ptrdiff_t>(x) * from.sample_stride], padding_bits);
  });
}

template <typename Sample>
__global__ void pack_kernel(SamplePlane from, int padding_bits, Plane to) {
  follow_stream();
  for_each_sample(to, [&](int x, int y) {
    auto* out = reinterpret_cast<Sample*>(to.data + y * to.stride);
    const Sample sample = reinterpret_cast<const Sample*>(from.data + y * from.stride)[x];
    out[static_cast<std::ptrdiff_t>(x) * to.sample_stride] = with_padding(sample, padding_bits);
  });
}

template <typename Sample>
__global__ void load_kernel(const std::byte* samples, std::ptrdiff_t stride, float scale, FloatPlane out) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kRowsPerThread;
  if (x >= out.width) {
    return;
  }
  float values[kRowsPerThread];
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    values[i] = y + i < out.height
                    ? static_cast<float>(reinterpret_cast<const Sample*>(samples + (y + i) * stride)[x])
                    : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    float value = values[i] * scale;
    if constexpr (!std::is_integral_v<Sample>) {
      value = usable_code_value(value);
    }
    if (y + i < out.height) {
      out.data[static_cast<std::ptrdiff_t>(y + i) * out.pitch + x] = value;
    }
  }
}

template <typename Sample>
__global__ void store_kernel(FloatPlane in, float scale, float peak, std::byte* samples,
                             std::ptrdiff_t stride) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kRowsPerThread;
  if (x >= in.width) {
    return;
  }
  float values[kRowsPerThread];
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    values[i] = y + i < in.height ? in.data[static_cast<std::ptrdiff_t>(y + i) * in.pitch + x] * scale : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    if (y + i >= in.height) {
      return;
    }
    Sample* out = reinterpret_cast<Sample*>(samples + (y + i) * stride) + x;
    if constexpr (!std::is_integral_v<Sample>) {
      *out = Sample(values[i]);
    } else {
      // Truncation of a non-negative number rounds down, so that adding 0.5 rounds halves up.
      *out = static_cast<Sample>(static_cast<int>(fminf(fmaxf(values[i] + 0.5F, 0.0F), peak)));
    }
  }
}

__global__ void pass_unusable_kernel(SamplePlane in, SamplePlane out, int width, int height) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const float sample = reinterpret_cast<const float*>(in.data + y * in.stride)[x];
    if (!is_usable_sample(sample)) {
      reinterpret_cast<float*>(out.data + y * out.stride)[x] = sample;
    }
  }
}

__global__ void range_kernel(FloatPlane plane, float offset, float* greatest) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float own = 0;
  if (x < plane.width && y < plane.height) {
    own = fabsf(plane.data[static_cast<std::ptrdiff_t>(y) * plane.pitch + x] - offset);
  }
  for (int i = 16; i > 0; i /= 2) {
    own = fmaxf(own, __shfl_xor_sync(0xFFFFFFFFU, own, i));
  }
  if (threadIdx.x % 32 == 0) {
    // Non-negative floats have bits in the order of their values.
    atomicMax(reinterpret_cast<int*>(greatest), __float_as_int(own));
  }
}

struct ToOpponent {
  __device__ static float3 of(float red, float green, float blue) {
    return {(red + green + blue) * (1.0F / 3.0F), (red - blue) * 0.5F, (red - 2.0F * green + blue) * 0.25F};
  }
};

struct FromOpponent {
  __device__ static float3 of(float luma, float u, float scaled_v) {
    const float v = scaled_v * (2.0F / 3.0F);
    return {luma + u + v, luma - 2.0F * v, luma - u + v};
  }
};

// Changes the three samples at each position.
template <typename Colors>
__global__ void colors_kernel(FloatPlane a, FloatPlane b, FloatPlane c) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= a.width || y >= a.height) {
    return;
  }
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(y) * a.pitch + x;
  const float3 colors = Colors::of(a.data[i], b.data[i], c.data[i]);
  a.data[i] = colors.x;
  b.data[i] = colors.y;
  c.data[i] = colors.z;
}

__global__ void subsample_kernel(FloatPlane in, int shift_x, int shift_y, FloatPlane out) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out.width || y >= out.height) {
    return;
  }
  const int last_x = min((x + 1) << shift_x, in.width);
  const int last_y = min((y + 1) << shift_y, in.height);
  float sum = 0;
  for (int v = y << shift_y; v < last_y; ++v) {
    for (int u = x << shift_x; u < last_x; ++u) {
      sum += in.data[static_cast<std::ptrdiff_t>(v) * in.pitch + u];
    }
  }
  const int count = (last_x - (x << shift_x)) * (last_y - (y << shift_y));
  out.data[static_cast<std::ptrdiff_t>(y) * out.pitch + x] = sum / static_cast<float>(count);
}

}  // namespace

void unpack_plane(const FrameFormat& format, const Plane& from, int padding_bits, const SamplePlane& out,
                  cudaStream_t stream) {
  const PlaneLaunch size(from.width, from.height, kRowsPerThread);
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(unpack_kernel<Sample>, size.grid, size.block, 0, stream, from, padding_bits, out);
  });
}

void pack_plane(const FrameFormat& format, const SamplePlane& from, int padding_bits, const Plane& to,
                cudaStream_t stream) {
  const PlaneLaunch size(to.width, to.height, kRowsPerThread);
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(pack_kernel<Sample>, size.grid, size.block, 0, stream, from, padding_bits, to);
  });
}

void load_plane(const FrameFormat& format, const SamplePlane& samples, const FloatPlane& out,
                cudaStream_t stream) {
  const auto scale = static_cast<float>(1 / format.code_value());
  const PlaneLaunch size(out.width, out.height, kRowsPerThread);
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(load_kernel<Sample>, size.grid, size.block, 0, stream, samples.data, samples.stride, scale, out);
  });
}

void store_plane(const FrameFormat& format, const FloatPlane& in, const SamplePlane& samples,
                 cudaStream_t stream) {
  const auto scale = static_cast<float>(format.code_value());
  const PlaneLaunch size(in.width, in.height, kRowsPerThread);
  const auto peak = static_cast<float>(format.is_float() ? 0 : (1 << format.bit_depth) - 1);
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(store_kernel<Sample>, size.grid, size.block, 0, stream, in, scale, peak, samples.data,
           samples.stride);
  });
}

void pass_unusable_samples(const SamplePlane& in, const SamplePlane& out, int width, int height,
                           cudaStream_t stream) {
  const PlaneLaunch size(width, height);
  launch(pass_unusable_kernel, size.grid, size.block, 0, stream, in, out, width, height);
}

void rgb_to_opponent(const std::array<FloatPlane, 3>& planes, cudaStream_t stream) {
  const PlaneLaunch size(planes[0].width, planes[0].height);
  launch(colors_kernel<ToOpponent>, size.grid, size.block, 0, stream, planes[0], planes[1], planes[2]);
}

void opponent_to_rgb(const std::array<FloatPlane, 3>& planes, cudaStream_t stream) {
  const PlaneLaunch size(planes[0].width, planes[0].height);
  launch(colors_kernel<FromOpponent>, size.grid, size.block, 0, stream, planes[0], planes[1], planes[2]);
}

void measure_range(const FloatPlane& plane, float offset, float* greatest, cudaStream_t stream) {
  const PlaneLaunch size(plane.width, plane.height);
  launch(range_kernel, size.grid, size.block, 0, stream, plane, offset, greatest);
}

void subsample(const FloatPlane& in, int shift_x, int shift_y, const FloatPlane& out, cudaStream_t stream) {
  const PlaneLaunch size(out.width, out.height);
  launch(subsample_kernel, size.grid, size.block, 0, stream, in, shift_x, shift_y, out);
}

}  // namespace limpid::cuda
