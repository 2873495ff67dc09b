#pragma once

// Encoders that take frames from an NVIDIA GPU's memory (NVENC) through libavcodec. Private to io.

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Whether an encoder takes frames in the memory of a CUDA device (AV_PIX_FMT_CUDA).
bool takes_cuda_frames(const AVCodec& codec);

/// Frames of one format in a CUDA device's memory, in its primary context, to be filled by the denoiser and
/// encoded from there. They are used again when nobody holds them any more: there come to be as many as the
/// denoiser, the queue behind it and the encoder hold at once. Thread-safe; frames may outlive it.
class CudaFramePool {
 public:
  /// `layout`: the pixel format in which the samples of `format` are stored. Throws Error if the device can't
  /// be reached, or can't have frames of that layout.
  CudaFramePool(int device, AVPixelFormat layout, const FrameFormat& format);

  /// The AVHWFramesContext that encoders want.
  AVBufferRef* context() const { return context_.get(); }

  /// Samples are not initialised. Throws Error if the device's memory does not suffice.
  Frame take() const;

  /// libav's reference to a frame that take() has given. Throws Error for other frames.
  FrameHandle reference_to(const Frame& frame) const;

 private:
  int device_;
  FrameFormat format_;
  BufferHandle context_;
};

}  // namespace limpid::io
