// SPDX-License-Identifier: MIT
#include "io/media/first_frame_check.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
}

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/frame/metrics.h"
#include "io/media/pixel_format.h"
#include "io/media/samples.h"

namespace limpid::io {
namespace {

constexpr double kLeastPsnr = 25;

AVPixelFormat format_of(const AVFrame& frame) {
  return without_range(static_cast<AVPixelFormat>(frame.format));
}

/// Samples as core stores them.
Frame unpacked(const AVFrame& picture, FrameFormat format) {
  format.width = picture.width;
  format.height = picture.height;
  Frame frame = FramePool().allocate(format);
  unpack(picture, frame);
  return frame;
}

bool have_equal_samples(const Frame& a, const Frame& b) {
  for (int p = 0; p < a.format.plane_count(); ++p) {
    const std::size_t bytes =
        static_cast<std::size_t>(a.planes[p].width) * static_cast<std::size_t>(a.format.bytes_per_sample());
    for (int y = 0; y < a.planes[p].height; ++y) {
      if (std::memcmp(a.planes[p].row<std::byte>(y), b.planes[p].row<std::byte>(y), bytes) != 0) {
        return false;
      }
    }
  }
  return true;
}

/// Nothing if the frames' pixel formats have different samples or cannot be compared.
std::optional<bool> are_equal(const AVFrame& a, const AVFrame& b) {
  const std::optional<FrameFormat> of_a = frame_format(format_of(a));
  const std::optional<FrameFormat> of_b = frame_format(format_of(b));
  if (!of_a || !of_b || !same_samples(*of_a, *of_b)) {
    return std::nullopt;
  }
  return have_equal_samples(unpacked(a, *of_a), unpacked(b, *of_b));
}

/// PSNR of the brightness. swscale keeps luma samples as they are if both sides have one range.
double psnr_of(const std::string& url, const AVFrame& sent, const AVFrame& decoded) {
  std::array<Frame, 2> frames;
  FrameFormat gray = frame_format(AV_PIX_FMT_GRAY16).value();
  gray.width = sent.width;
  gray.height = sent.height;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const AVFrame& from = i == 0 ? sent : decoded;
    const AVFrame& tagged = is_rgb(format_of(from)) ? sent : from;
    const ColorCoding coding{
        .matrix = is_rgb(format_of(sent)) || tagged.colorspace == AVCOL_SPC_RGB ? AVCOL_SPC_SMPTE170M
                                                                                : sent.colorspace,
        .full_range = is_rgb(format_of(sent)) ? is_full_range(format_of(from), from.color_range) : true};
    Scaler scaler(url, {from.width, from.height, format_of(from), coding},
                  {sent.width, sent.height, AV_PIX_FMT_GRAY16, {coding.matrix, true}});
    LibavFramePool pool;
    const FrameHandle luma = pool.take(AV_PIX_FMT_GRAY16, sent.width, sent.height);
    scaler.convert(from, *luma);
    frames[i] = unpacked(*luma, gray);
  }
  return measure(frames[0], frames[1]).front().psnr;
}

}  // namespace

bool is_lossless_video(AVCodecID codec) {
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get(codec);
  return descriptor != nullptr && (descriptor->props & AV_CODEC_PROP_LOSSLESS) != 0 &&
         (descriptor->props & AV_CODEC_PROP_LOSSY) == 0;
}

FirstFrameCheck::FirstFrameCheck(std::string url, const AVCodecContext& encoder, Demand demand)
    : url_(std::move(url)), name_(encoder.codec->name), demand_(demand) {
  if (demand == Demand::kNone) {
    return;
  }
  const AVCodec* const codec = avcodec_find_decoder(encoder.codec_id);
  if (codec == nullptr) {
    give_up("this FFmpeg has no decoder for it");
    return;
  }
  decoder_.reset(avcodec_alloc_context3(codec));
  AVCodecParameters* parameters = avcodec_parameters_alloc();
  const bool is_open = decoder_ != nullptr && parameters != nullptr &&
                       avcodec_parameters_from_context(parameters, &encoder) >= 0 &&
                       avcodec_parameters_to_context(decoder_.get(), parameters) >= 0;
  avcodec_parameters_free(&parameters);
  if (is_open) {
    decoder_->pkt_timebase = encoder.time_base;
    decoder_->thread_type = FF_THREAD_SLICE;  // frame threads would delay frames
  }
  if (!is_open || avcodec_open2(decoder_.get(), codec, nullptr) < 0) {
    give_up("its decoder " + std::string(codec->name) + " can't be opened");
  }
}

void FirstFrameCheck::give_up(const std::string& reason) {
  demand_ = Demand::kNone;
  decoder_ = nullptr;
  sent_ = nullptr;
  av_log(nullptr, AV_LOG_INFO, "%s: what the encoder %s writes was not checked: %s\n", url_.c_str(),
         name_.c_str(), reason.c_str());
}

void FirstFrameCheck::note_sent(const AVFrame& picture) {
  if (!is_pending() || sent_ != nullptr) {
    return;
  }
  sent_.reset(av_frame_clone(&picture));
  if (sent_ == nullptr) {
    throw Error("out of memory");
  }
}

void FirstFrameCheck::note_encoded(const AVPacket& packet) {
  constexpr int kMostPackets = 64;
  if (!is_pending()) {
    return;
  }
  if (++packets_ > kMostPackets || avcodec_send_packet(decoder_.get(), &packet) < 0) {
    return give_up("its packets can't be decoded");
  }
  receive();
}

void FirstFrameCheck::finish() {
  if (is_pending() && sent_ != nullptr) {
    avcodec_send_packet(decoder_.get(), nullptr);
    receive();
  }
}

void FirstFrameCheck::receive() {
  const FrameHandle decoded = make_frame();
  const int code = avcodec_receive_frame(decoder_.get(), decoded.get());
  if (code == AVERROR(EAGAIN)) {
    return;
  }
  if (code < 0) {
    return give_up("its packets can't be decoded");
  }
  compare(*decoded);
  demand_ = Demand::kNone;
  decoder_ = nullptr;
  sent_ = nullptr;
}

void FirstFrameCheck::compare(const AVFrame& decoded) const {
  const std::string remedy = "; name another encoder with -c or another pixel format with --pix-fmt";
  const std::string what = url_ + ": the encoder " + name_ + " can't be used for " +
                           std::to_string(sent_->width) + "x" + std::to_string(sent_->height) + " " +
                           name_of(format_of(*sent_)) + ": its first frame, decoded again, ";
  if (decoded.width != sent_->width || decoded.height != sent_->height) {
    throw Error(what + "has another size" + remedy);
  }
  const std::optional<bool> equal =
      demand_ == Demand::kEqual ? are_equal(*sent_, decoded) : std::optional<bool>();
  if (equal.has_value()) {
    if (!*equal) {
      throw Error(what + "differs from the frame that it got" + remedy);
    }
    return;
  }
  double psnr = kLeastPsnr;
  try {
    psnr = psnr_of(url_, *sent_, decoded);
  } catch (const Error& error) {
    av_log(nullptr, AV_LOG_INFO, "%s: the first frame of the encoder %s was not checked: %s\n", url_.c_str(),
           name_.c_str(), error.what());
  }
  if (psnr < kLeastPsnr) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", psnr);
    throw Error(what + "has a PSNR of " + text.data() + " dB" + remedy);
  }
}

}  // namespace limpid::io
