// SPDX-License-Identifier: MIT
#include "io/media/picture_mender.h"

#include <algorithm>

#include "core/base/error.h"

namespace limpid::io {

bool PictureMender::is_for(const AVCodecContext& decoder,
                           const std::vector<std::pair<std::string, std::string>>& options) {
  return decoder.codec_id == AV_CODEC_ID_MJPEG &&
         std::none_of(options.begin(), options.end(),
                      [](const auto& option) { return option.first == "err_detect"; });
}

PictureMender::PictureMender(AVCodecContext& decoder, const AVCodecParameters& parameters,
                             std::vector<std::pair<std::string, std::string>> options)
    : parameters_(parameters), time_base_(decoder.pkt_timebase), options_(std::move(options)) {
  decoder.err_recognition |= AV_EF_EXPLODE;
}

void PictureMender::sent(const AVPacket& packet) {
  under_way_.push_back(make_packet());
  check(av_packet_ref(under_way_.back().get(), &packet), "packet", "can't keep it");
}

void PictureMender::received(const AVFrame& frame) {
  const auto same = std::find_if(under_way_.begin(), under_way_.end(),
                                 [&](const PacketHandle& packet) { return packet->pts == frame.pts; });
  // Packets without a picture may precede it.
  under_way_.erase(under_way_.begin(),
                   same != under_way_.end() ? same + 1 : under_way_.begin() + (under_way_.empty() ? 0 : 1));
}

FrameHandle PictureMender::mend() {
  if (under_way_.empty()) {
    return nullptr;
  }
  const PacketHandle packet = std::move(under_way_.front());
  under_way_.pop_front();
  if (tolerant_ == nullptr) {
    const AVCodec* const codec = avcodec_find_decoder(parameters_.codec_id);
    CodecHandle decoder(avcodec_alloc_context3(codec));
    if (decoder == nullptr) {
      throw Error("out of memory");
    }
    Dictionary options(options_);
    decoder->pkt_timebase = time_base_;
    decoder->thread_count = 1;  // returns each picture immediately
    if (avcodec_parameters_to_context(decoder.get(), &parameters_) < 0 ||
        avcodec_open2(decoder.get(), codec, options.get()) < 0) {
      return nullptr;
    }
    tolerant_ = std::move(decoder);
  }
  FrameHandle frame = make_frame();
  if (avcodec_send_packet(tolerant_.get(), packet.get()) < 0 ||
      avcodec_receive_frame(tolerant_.get(), frame.get()) < 0) {
    return nullptr;
  }
  frame->flags |= AV_FRAME_FLAG_CORRUPT;
  return frame;
}

}  // namespace limpid::io
