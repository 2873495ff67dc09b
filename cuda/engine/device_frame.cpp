// SPDX-License-Identifier: MIT
#include "cuda/engine/device_frame.h"

#include <memory>

namespace limpid::cuda {
namespace {

// True if a frame in host memory has the device frame's layout, so that one copy suffices.
bool same_layout(const Frame& host, const SamplePlanes& device) {
  for (int p = 0; p < host.format.plane_count(); ++p) {
    if (host.planes[p].stride != device[p].stride ||
        host.planes[p].data - host.planes[0].data != device[p].data - device[0].data) {
      return false;
    }
  }
  return true;
}

}  // namespace

DeviceFrame::DeviceFrame(const FrameFormat& format) : memory_(frame_bytes(format)) {
  // Bytes between rows are copied but never written.
  check(cudaMemset(memory_.as(), 0, memory_.bytes()));
  check(cudaStreamSynchronize(nullptr));
  // Only for the layout; the host does not access the memory.
  const Frame layout = place_frame(format, {std::shared_ptr<void>(), memory_.as()});
  for (int p = 0; p < format.plane_count(); ++p) {
    planes_[p] = {layout.planes[p].data, layout.planes[p].stride};
  }
}

void copy(const Frame& host, const SamplePlanes& device, cudaMemcpyKind kind, cudaStream_t stream) {
  const int planes = host.format.plane_count();
  const bool up = kind == cudaMemcpyHostToDevice;
  const auto row_bytes = [&](int p) {
    return static_cast<std::size_t>(host.planes[p].width) * host.format.bytes_per_sample();
  };
  if (same_layout(host, device)) {
    // Up to the last sample, after which the host memory may end.
    const Plane& last = host.planes[planes - 1];
    const std::size_t bytes = static_cast<std::size_t>(last.data - host.planes[0].data) +
                              last.stride * (last.height - 1) + row_bytes(planes - 1);
    check(cudaMemcpyAsync(up ? device[0].data : host.planes[0].data,
                          up ? host.planes[0].data : device[0].data, bytes, kind, stream));
    return;
  }
  for (int p = 0; p < planes; ++p) {
    const Plane& plane = host.planes[p];
    check(cudaMemcpy2DAsync(up ? device[p].data : plane.data, up ? device[p].stride : plane.stride,
                            up ? plane.data : device[p].data, up ? plane.stride : device[p].stride,
                            row_bytes(p), plane.height, kind, stream));
  }
}

cudaEvent_t ready_event(const Frame& frame, const Event& decoded) {
  if (frame.ready != nullptr) {
    return static_cast<cudaEvent_t>(frame.ready.get());
  }
  check(cudaEventRecord(decoded.get(), cudaStreamLegacy));
  return decoded.get();
}

void copy_from_decoder(const Frame& frame, const SamplePlanes& out, const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    unpack_plane(frame.format, frame.planes[p], frame.padding_bits, out[p], stream.get());
  }
}

void copy_to_encoder(const SamplePlanes& in, const Frame& frame, const Stream& stream) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    pack_plane(frame.format, in[p], frame.padding_bits, frame.planes[p], stream.get());
  }
}

}  // namespace limpid::cuda
