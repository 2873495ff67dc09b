#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/frame/frame.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

// Frames in the current device's memory, and their ways there and back.

namespace limpid::cuda {

/// A frame's planes in device memory, laid out as place_frame() does.
class DeviceFrame {
 public:
  explicit DeviceFrame(const FrameFormat& format);
  const SamplePlanes& planes() const { return planes_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
  SamplePlanes planes_;
};

/// Enqueues a copy between a frame in host memory and the device's, by one call where both are laid out
/// alike.
void copy(const Frame& host, const SamplePlanes& device, cudaMemcpyKind kind, cudaStream_t stream);

/// The event after which a frame in the device's memory may be read: its own (Frame::ready), or `decoded`,
/// which is recorded then, when all is done that the device's default stream has been given.
cudaEvent_t ready_event(const Frame& frame, const Event& decoded);

/// copy() of a frame that a video decoder has left in the device's memory.
void copy_from_decoder(const Frame& frame, const SamplePlanes& out, const Stream& stream);
/// A frame that a video encoder will take, from the device's own memory.
void copy_to_encoder(const SamplePlanes& in, const Frame& frame, const Stream& stream);

}  // namespace limpid::cuda
