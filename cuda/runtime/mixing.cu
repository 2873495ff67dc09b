// SPDX-License-Identifier: MIT
#include <cstddef>

#include "cuda/runtime/launch.h"
#include "cuda/runtime/mixing.h"

namespace limpid::cuda {
namespace {

constexpr int kRowsPerThread = 4;

template <typename Sample>
__global__ void mix_kernel(SamplePlane noisy, float mix, SamplePlane out, int width, int height) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int y = (blockIdx.y * kRowsPerThread + i) * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
      Sample& estimate = reinterpret_cast<Sample*>(out.data + y * out.stride)[x];
      estimate = mixed(reinterpret_cast<const Sample*>(noisy.data + y * noisy.stride)[x], estimate, mix);
    }
  }
}

// A thread for each block.
template <typename Sample>
__global__ void mix_blocks_kernel(MixedPlanes<Sample> planes, float greatest, SamplePlane out) {
  follow_stream();
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < mixed_blocks(planes.width) && row < mixed_blocks(planes.height)) {
    mix_block(planes, column, row, greatest, reinterpret_cast<Sample*>(out.data),
              out.stride / std::ptrdiff_t{sizeof(Sample)});
  }
}

}  // namespace

void mix_results(const FrameFormat& format, const SamplePlanes& first, const SamplePlanes& before,
                 const SamplePlanes& second, float share, const SamplePlanes& out, cudaStream_t stream) {
  for (int p = 0; p < format.color_plane_count(); ++p) {
    visit_samples(format, [&]<typename Sample>(Sample) {
      const auto samples = [](const SamplePlane& plane) {
        return reinterpret_cast<const Sample*>(plane.data);
      };
      const MixedPlanes<Sample> planes{samples(first[p]),
                                       samples(before[p]),
                                       samples(second[p]),
                                       first[p].stride / std::ptrdiff_t{sizeof(Sample)},
                                       format.plane_width(p),
                                       format.plane_height(p),
                                       static_cast<float>(16 / format.code_value())};
      const PlaneLaunch size(mixed_blocks(planes.width), mixed_blocks(planes.height));
      launch(mix_blocks_kernel<Sample>, size.grid, size.block, 0, stream, planes, share, out[p]);
    });
  }
}

void mix_in(const FrameFormat& format, const SamplePlanes& noisy, float mix, const SamplePlanes& out,
            cudaStream_t stream) {
  for (int p = 0; mix > 0 && p < format.color_plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    const PlaneLaunch size(width, height, kRowsPerThread);
    visit_samples(format, [&]<typename Sample>(Sample) {
      launch(mix_kernel<Sample>, size.grid, size.block, 0, stream, noisy[p], mix, out[p], width, height);
    });
  }
}

void pass_outside(const FrameFormat& format, const SamplePlanes& noisy, const Region& area,
                  const SamplePlanes& out, cudaStream_t stream) {
  const auto bytes = std::ptrdiff_t{format.bytes_per_sample()};
  for (int p = 0; p < format.color_plane_count(); ++p) {
    for (const Region& part : parts_outside(area, format, p)) {
      check(cudaMemcpy2DAsync(
          out[p].data + part.y * out[p].stride + part.x * bytes, static_cast<std::size_t>(out[p].stride),
          noisy[p].data + part.y * noisy[p].stride + part.x * bytes,
          static_cast<std::size_t>(noisy[p].stride), static_cast<std::size_t>(part.width * bytes),
          static_cast<std::size_t>(part.height), cudaMemcpyDeviceToDevice, stream));
    }
  }
}

}  // namespace limpid::cuda
