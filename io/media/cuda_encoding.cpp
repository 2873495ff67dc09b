// SPDX-License-Identifier: MIT
#include "io/media/cuda_encoding.h"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "io/media/cuda_decoding.h"

namespace limpid::io {

bool takes_cuda_frames(const AVCodec& codec) {
  return av_codec_is_encoder(&codec) != 0 &&
         works_on_cuda_frames(codec, AV_CODEC_HW_CONFIG_METHOD_HW_FRAMES_CTX);
}

CudaFramePool::CudaFramePool(int device, AVPixelFormat layout, const FrameFormat& format)
    : device_(device), format_(format) {
  const BufferHandle device_context = open_cuda_device(device);
  context_.reset(av_hwframe_ctx_alloc(device_context.get()));
  if (context_ == nullptr) {
    throw Error("out of memory");
  }
  auto& frames = *reinterpret_cast<AVHWFramesContext*>(context_->data);
  frames.format = AV_PIX_FMT_CUDA;
  frames.sw_format = layout;
  frames.width = format.width;
  frames.height = format.height;
  forget_logged_messages();
  if (const int code = av_hwframe_ctx_init(context_.get()); code < 0) {
    throw Error("the GPU can't have frames of " + name_of(layout) + ": " + error_text(code) +
                logged_reason());
  }
}

Frame CudaFramePool::take() const {
  std::shared_ptr<AVFrame> frame = make_frame();
  check(av_hwframe_get_buffer(context_.get(), frame.get(), 0), "the GPU", "can't have another frame");
  return device_view_of(std::move(frame), format_, device_);
}

FrameHandle CudaFramePool::reference_to(const Frame& frame) const {
  // Every frame in device memory is a libav frame: the decoder's, or one of this pool.
  const auto* const samples =
      frame.memory == cuda_memory(device_) ? static_cast<const AVFrame*>(frame.samples.get()) : nullptr;
  if (samples == nullptr || samples->hw_frames_ctx->data != context_->data) {
    throw Error("frame " + std::to_string(frame.index) + " is not in the memory of the encoder's GPU");
  }
  FrameHandle reference = make_frame();
  check(av_frame_ref(reference.get(), samples), "the GPU", "can't keep a reference to a frame");
  return reference;
}

}  // namespace limpid::io
