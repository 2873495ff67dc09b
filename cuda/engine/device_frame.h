// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/frame/frame.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/runtime.h"

// Frames in the current device's memory, and copies to and from it.

namespace limpid::cuda {

/// A frame's planes in device memory, in the layout of place_frame().
class DeviceFrame {
 public:
  explicit DeviceFrame(const FrameFormat& format);
  const SamplePlanes& planes() const { return planes_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  DeviceMemory memory_;
  SamplePlanes planes_;
};

/// Enqueues a copy between a frame in host memory and device memory; a single one if both have the same
/// layout.
void copy(const Frame& host, const SamplePlanes& device, cudaMemcpyKind kind, cudaStream_t stream);

/// The event after which a frame in device memory may be read: its own (Frame::ready), or `decoded`, which is
/// recorded after all work that the device's default stream has at the time.
cudaEvent_t ready_event(const Frame& frame, const Event& decoded);

/// copy() for a frame that a video decoder has left in device memory.
void copy_from_decoder(const Frame& frame, const SamplePlanes& out, const Stream& stream);
/// Copies a frame from the device's own memory to one for a video encoder.
void copy_to_encoder(const SamplePlanes& in, const Frame& frame, const Stream& stream);

}  // namespace limpid::cuda
