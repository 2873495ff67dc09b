#include "core/motion/followed.h"
#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/groups.h"

namespace limpid::cuda {
namespace {

constexpr int kCutThreads = 1024;

__global__ void __launch_bounds__(kCutThreads)
    end_at_cut_kernel(MotionVector* vectors, const std::int32_t* differences, const std::int32_t* textures,
                      int blocks, std::int32_t noise) {
  __shared__ int lost;
  follow_stream();
  if (threadIdx.x == 0) {
    lost = 0;
  }
  __syncthreads();
  int own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kCutThreads) {
    own += motion::is_followed(differences[i], textures[i], noise) ? 0 : 1;
  }
  atomicAdd(&lost, own);
  __syncthreads();
  if (limpid::vbm4d::is_cut(lost, blocks)) {
    for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kCutThreads) {
      vectors[i] = limpid::vbm4d::kNowhere;
    }
  }
}

}  // namespace

void end_at_cut(MotionVector* vectors, const std::int32_t* differences, const std::int32_t* textures,
                int blocks, std::int32_t noise, cudaStream_t stream) {
  launch(end_at_cut_kernel, dim3(1), dim3(kCutThreads), 0, stream, vectors, differences, textures, blocks,
         noise);
}

}  // namespace limpid::cuda
