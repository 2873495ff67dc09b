#include "cuda/runtime/frame_filter.h"

#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

FrameFilter::FrameFilter(const FrameFormat& format) : format_(format) { format.validate("frame"); }

void FrameFilter::enqueue(const SamplePlanes& in, const SamplePlanes& out, bool interlaced,
                          const NoiseLevel& noise, cudaStream_t stream) {
  std::array<int, kMaxPlanes> height{};
  for (int parity = 0; parity < (interlaced ? 2 : 1); ++parity) {
    SamplePlanes field_in = in;
    SamplePlanes field_out = out;
    for (int p = 0; p < format_.plane_count(); ++p) {
      height[p] = format_.plane_height(p);
      if (interlaced) {
        field_in[p] = {in[p].data + parity * in[p].stride, 2 * in[p].stride};
        field_out[p] = {out[p].data + parity * out[p].stride, 2 * out[p].stride};
        height[p] = (height[p] + 1 - parity) / 2;
      }
    }
    filter_picture(field_in, field_out, height, noise, stream);
  }
}

void FrameFilter::copy_plane(int p, const SamplePlane& in, const SamplePlane& out, int height,
                             cudaStream_t stream) const {
  if (height > 0) {
    check(cudaMemcpy2DAsync(out.data, out.stride, in.data, in.stride,
                            static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                            height, cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace limpid::cuda
