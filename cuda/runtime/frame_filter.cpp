// SPDX-License-Identifier: MIT
#include "cuda/runtime/frame_filter.h"

#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

FrameFilter::FrameFilter(const FrameFormat& format) : format_(format) { format.validate("frame"); }

void SpatialFilter::enqueue(const SamplePlanes& in, const SamplePlanes& out, bool interlaced,
                            const NoiseModel& noise, cudaStream_t stream) {
  for (const PictureRows& rows : pictures_of(interlaced)) {
    SamplePlanes picture_in;
    SamplePlanes picture_out;
    for (int p = 0; p < format_.plane_count(); ++p) {
      picture_in[p] = {in[p].data + rows.first * in[p].stride, rows.spacing * in[p].stride};
      picture_out[p] = {out[p].data + rows.first * out[p].stride, rows.spacing * out[p].stride};
    }
    filter_picture(picture_in, picture_out, plane_heights(format_, rows), noise, stream);
  }
}

void SpatialFilter::copy_plane(int p, const SamplePlane& in, const SamplePlane& out, int height,
                               cudaStream_t stream) const {
  if (height > 0) {
    check(cudaMemcpy2DAsync(out.data, out.stride, in.data, in.stride,
                            static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                            height, cudaMemcpyDeviceToDevice, stream));
  }
}

}  // namespace limpid::cuda
