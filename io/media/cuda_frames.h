// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

// Decoding on NVIDIA GPUs (NVDEC) through libavcodec, with frames in the GPU's memory. GPUs do not conceal
// damage in pictures, as libavcodec's own decoders do. Private to io.

/// True if libavcodec reports that a codec, set up by `method` (one of AV_CODEC_HW_CONFIG_METHOD_*), outputs
/// frames to a CUDA device's memory or reads them from there.
bool works_on_cuda_frames(const AVCodec& codec, int method);

/// The decoder for a codec that supports decoding by an NVIDIA GPU; null if there is none.
const AVCodec* find_cuda_decoder(AVCodecID codec);

/// True if the codec's standard defines the decoded samples exactly, so that GPUs are bit-exact with
/// libavcodec: ITU-T H.264 and H.265, VP9. AV1 does not define film grain exactly.
bool has_exact_samples(AVCodecID codec);

/// libav's handle of a CUDA device with its primary context. Throws Error if the device is not available.
BufferHandle open_cuda_device(int device);

/// Sets up `decoder`, before it is opened, to decode on a CUDA device if that supports the stream, and to
/// output frames to its memory (AV_PIX_FMT_CUDA), in the device's primary context. Returns an empty string,
/// or the reason why the device cannot be used.
std::string decode_on_cuda(AVCodecContext& decoder, int device);

/// True if a decoded frame in device memory has chroma planes of the size of the stream's format: GPUs output
/// less for some streams.
bool has_chroma_of(AVPixelFormat format, const AVFrame& frame);

/// The visible size of a frame: libav leaves cropping at the left and the top of hardware frames to its
/// caller.
int visible_width(const AVFrame& frame);
int visible_height(const AVFrame& frame);

/// A view of the samples of a frame in a CUDA device's memory; the view keeps `from` alive. `format`: format
/// of the visible part according to the stream. GPUs store samples of more than 8 bits in the upper bits of
/// 16.
Frame device_view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format, int device);

/// Copies the visible part of a frame in a CUDA device's memory to host memory.
FrameHandle copy_to_host(const AVFrame& frame, const std::string& subject);

// Encoders that take frames from an NVIDIA GPU's memory (NVENC) through libavcodec. Private to io.

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
