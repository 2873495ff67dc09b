#include "cuda/filter_fast.cuh"

namespace limpid::cuda {

void launch_hard_filter(const Bm3dStep& step, const FastFilterArguments& arguments, cudaStream_t stream) {
  launch_filter<false>(step, arguments, stream);
}

}  // namespace limpid::cuda
