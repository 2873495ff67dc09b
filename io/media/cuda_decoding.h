#pragma once

// Decoding on NVIDIA GPUs (NVDEC) through libavcodec, frames staying in the GPU's memory. GPUs don't conceal
// damage in pictures, as libavcodec's own decoders do. Private to io.

#include <memory>
#include <string>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Whether libavcodec says that a codec leaves frames in a CUDA device's memory or takes them from there when
/// it is set up by `method`, one of AV_CODEC_HW_CONFIG_METHOD_*.
bool works_on_cuda_frames(const AVCodec& codec, int method);

/// The decoder for a codec that can leave its work to an NVIDIA GPU; nullptr if there is none.
const AVCodec* find_cuda_decoder(AVCodecID codec);

/// Whether a codec's standard leaves decoders no choice of samples, so that GPUs give those of libavcodec:
/// ITU-T H.264 and H.265, VP9. AV1 leaves them film grain.
bool has_exact_samples(AVCodecID codec);

/// libav's handle of a CUDA device, with its primary context. Throws Error if the device can't be reached.
BufferHandle open_cuda_device(int device);

/// Sets `decoder` up, before it is opened, to decode on a CUDA device if that can decode the stream, and to
/// leave frames in its memory (AV_PIX_FMT_CUDA), in the device's primary context. `stream`: of the device's,
/// to work on for as long as the decoder is there; null: its default stream. Empty, or why the device can't
/// be used.
std::string decode_on_cuda(AVCodecContext& decoder, int device);

/// Whether a decoded frame in a device's memory has chroma planes of the size that the stream's format has:
/// some streams are given less by GPUs.
bool has_chroma_of(AVPixelFormat format, const AVFrame& frame);

/// The visible size of a frame: libav leaves cropping at the left and the top of hardware frames to others.
int visible_width(const AVFrame& frame);
int visible_height(const AVFrame& frame);

/// A view of the samples of a frame in a CUDA device's memory, which `from` keeps alive. `format`: that of
/// its visible part, as the stream has it; GPUs store deeper samples in the upper bits of 16.
Frame device_view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format, int device);

/// The visible part of a frame in a CUDA device's memory, copied to the host's.
FrameHandle copy_to_host(const AVFrame& frame, const std::string& subject);

}  // namespace limpid::io
