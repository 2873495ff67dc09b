// SPDX-License-Identifier: MIT
#include "core/frame/mixing.h"
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

}  // namespace

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

}  // namespace limpid::cuda
