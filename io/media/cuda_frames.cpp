// SPDX-License-Identifier: MIT
#include "io/media/cuda_frames.h"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace limpid::io {
namespace {

// Surfaces in addition to the decoder's own: the maximum that the queue before the denoiser, lookahead and
// the denoiser hold at once. The decoder has at most 32, of which the streams with the most references leave
// 14.
constexpr int kFramesHeld = 14;

// Reads a sequence parameter set's Exp-Golomb codes (ITU-T H.264, 9.1).
class CodeReader {
 public:
  explicit CodeReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  unsigned next() {
    int zeros = 0;
    while (bit() == 0 && zeros < 31) {
      ++zeros;
    }
    unsigned value = 1;
    for (int i = 0; i < zeros; ++i) {
      value = 2 * value + bit();
    }
    return value - 1;
  }

 private:
  unsigned bit() {
    const std::size_t at = position_++;
    return at / 8 < bytes_.size() ? bytes_[at / 8] >> (7 - at % 8) & 1 : 1;
  }
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
};

// True for pictures without chroma, for which libavcodec's software decoder adds neutral chroma and GPUs do
// not.
bool is_monochrome_h264(const AVCodecContext& decoder) {
  const std::span<const std::uint8_t> bytes(decoder.extradata,
                                            static_cast<std::size_t>(decoder.extradata_size));
  const int profile = decoder.profile & ~kH264Flags;
  if (decoder.codec_id != AV_CODEC_ID_H264 || profile < kH264High) {
    return false;  // the lower profiles have chroma
  }
  constexpr unsigned kParameterSet = 7;
  // The unit's type is followed by the profile, constraints, level, the set's number and chroma_format_idc.
  // In MP4's format the unit begins at byte 8, otherwise it follows a start code.
  for (std::size_t i = 3; i + 5 < bytes.size(); ++i) {
    const bool after_start_code = bytes[i - 3] == 0 && bytes[i - 2] == 0 && bytes[i - 1] == 1;
    if ((after_start_code || (i == 8 && bytes[0] == 1)) && (bytes[i] & 31U) == kParameterSet) {
      CodeReader codes(bytes.subspan(i + 4));
      codes.next();
      return codes.next() == 0;
    }
  }
  return false;
}

struct ChromaShifts {
  int x;
  int y;
  bool operator==(const ChromaShifts&) const = default;
};

// GPUs output gray pictures as the luma of other formats, so gray matches any chroma.
bool have_same_chroma(AVPixelFormat a, AVPixelFormat b) {
  const auto shifts = [](AVPixelFormat format) {
    const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
    return ChromaShifts{descriptor.log2_chroma_w, descriptor.log2_chroma_h};
  };
  const auto is_gray = [](AVPixelFormat format) { return av_pix_fmt_desc_get(format)->nb_components < 3; };
  return is_gray(a) || is_gray(b) || shifts(a) == shifts(b);
}

bool is_software_frame(const AVFrame& frame) { return frame.hw_frames_ctx == nullptr; }

}  // namespace

bool works_on_cuda_frames(const AVCodec& codec, int method) {
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* const config = avcodec_get_hw_config(&codec, i);
    if (config == nullptr) {
      return false;
    }
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA && config->pix_fmt == AV_PIX_FMT_CUDA &&
        (config->methods & method) != 0) {
      return true;
    }
  }
}

const AVCodec* find_cuda_decoder(AVCodecID codec) {
  void* state = nullptr;
  while (const AVCodec* const candidate = av_codec_iterate(&state)) {
    // The decoders named "..._cuvid" cannot fall back to software decoding.
    if (candidate->id == codec && av_codec_is_decoder(candidate) != 0 &&
        works_on_cuda_frames(*candidate, AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) &&
        !std::string_view(candidate->name).ends_with("_cuvid")) {
      return candidate;
    }
  }
  return nullptr;
}

bool has_exact_samples(AVCodecID codec) {
  constexpr std::array kExact{AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_VP9};
  return std::ranges::find(kExact, codec) != kExact.end();
}

BufferHandle open_cuda_device(int device) {
  Dictionary options;
  options.set("primary_ctx", "1");
  forget_logged_messages();
  AVBufferRef* context = nullptr;
  const int code = av_hwdevice_ctx_create(&context, AV_HWDEVICE_TYPE_CUDA, std::to_string(device).c_str(),
                                          *options.get(), 0);
  if (code < 0) {
    throw Error("libav can't reach the GPU: " + error_text(code) + logged_reason());
  }
  return BufferHandle(context);
}

std::string decode_on_cuda(AVCodecContext& decoder, int device) {
  if (is_monochrome_h264(decoder)) {
    return "GPUs don't decode H.264 without chroma";
  }
  if (decoder.codec_id == AV_CODEC_ID_MJPEG && decoder.pix_fmt != AV_PIX_FMT_NONE &&
      !have_same_chroma(decoder.pix_fmt, AV_PIX_FMT_YUV420P) &&
      !have_same_chroma(decoder.pix_fmt, AV_PIX_FMT_YUV444P)) {
    return "GPUs reduce the chroma of JPEG pictures to 4:2:0";
  }
  try {
    decoder.hw_device_ctx = open_cuda_device(device).release();
  } catch (const Error& error) {
    return error.what();
  }
  decoder.extra_hw_frames = kFramesHeld;
  decoder.thread_count = 1;  // each thread would need its own surfaces, without a gain in speed
  return {};
}

bool has_chroma_of(AVPixelFormat format, const AVFrame& frame) {
  return have_same_chroma(reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format,
                          format);
}

int visible_width(const AVFrame& frame) {
  return frame.width - (is_software_frame(frame) ? 0 : static_cast<int>(frame.crop_left));
}

int visible_height(const AVFrame& frame) {
  return frame.height - (is_software_frame(frame) ? 0 : static_cast<int>(frame.crop_top));
}

Frame device_view_of(std::shared_ptr<AVFrame> from, const FrameFormat& format, int device) {
  const auto& pool = *reinterpret_cast<const AVHWFramesContext*>(from->hw_frames_ctx->data);
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(pool.sw_format);
  Frame frame;
  frame.format = format;
  frame.memory = cuda_memory(device);
  frame.padding_bits = descriptor.comp[0].shift + descriptor.comp[0].depth - format.bit_depth;
  for (int p = 0; p < format.plane_count(); ++p) {
    const AVComponentDescriptor& component = descriptor.comp[p];
    const bool chroma = p > 0;
    const std::ptrdiff_t left =
        static_cast<std::ptrdiff_t>(from->crop_left >> (chroma ? format.chroma_shift_x : 0));
    const std::ptrdiff_t top =
        static_cast<std::ptrdiff_t>(from->crop_top >> (chroma ? format.chroma_shift_y : 0));
    const std::ptrdiff_t stride = from->linesize[component.plane];
    frame.planes[p] = {.data = reinterpret_cast<std::byte*>(from->data[component.plane]) + top * stride +
                               left * component.step + component.offset,
                       .stride = stride,
                       .width = format.plane_width(p),
                       .height = format.plane_height(p),
                       .sample_stride = component.step / format.bytes_per_sample()};
  }
  frame.samples = std::move(from);
  return frame;
}

FrameHandle copy_to_host(const AVFrame& frame, const std::string& subject) {
  FrameHandle copy = make_frame();
  check(av_hwframe_transfer_data(copy.get(), &frame, 0), subject, "can't copy a frame from the GPU");
  check(av_frame_copy_props(copy.get(), &frame), subject, "can't copy a frame's properties");
  check(av_frame_apply_cropping(copy.get(), AV_FRAME_CROP_UNALIGNED), subject, "can't crop a frame");
  return copy;
}

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
