// SPDX-License-Identifier: MIT
#pragma once

// Encoders that take frames from an NVIDIA GPU's memory (NVENC) through libavcodec. Private to io.

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// True if an encoder accepts frames in the memory of a CUDA device (AV_PIX_FMT_CUDA).
bool takes_cuda_frames(const AVCodec& codec);

/// A pool of frames of one format in a CUDA device's memory, in its primary context. The denoiser writes the
/// frames and the encoder reads them. Frames are reused, so the pool has as many as the denoiser, the queue
/// after it and the encoder hold at once. Thread-safe. Frames may outlive the pool.
class CudaFramePool {
 public:
  /// `layout`: the pixel format in which the samples of `format` are stored. Throws Error if the device is
  /// not available or does not support that layout.
  CudaFramePool(int device, AVPixelFormat layout, const FrameFormat& format);

  /// The AVHWFramesContext that encoders require.
  AVBufferRef* context() const { return context_.get(); }

  /// Takes a frame with uninitialized samples from the pool. Throws Error if the device's memory is
  /// insufficient.
  Frame take() const;

  /// libav's reference to a frame from take(). Throws Error for other frames.
  FrameHandle reference_to(const Frame& frame) const;

 private:
  int device_;
  FrameFormat format_;
  BufferHandle context_;
};

}  // namespace limpid::io
