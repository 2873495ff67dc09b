// SPDX-License-Identifier: MIT
#include "io/media/reader/decoder_filter.h"

#include <utility>

#include "io/media/orientation.h"

namespace limpid::io {

DecoderFilter::DecoderFilter(const ReaderOptions& options, const AVStream& stream, AVRational rate)
    : stream_(stream), rate_(rate) {
  if (!options.before.empty()) {
    chain_.emplace("--before", options.before, options.local_only);
    if (options.start) {
      chain_->require_no_memory("--start");
    }
  }
}

Decoder::Status DecoderFilter::receive(Decoder& decoder, DecodedFrame& decoded, std::int64_t index) {
  if (!is_active()) {
    return decoder.receive(decoded, index);
  }
  for (;;) {
    if (FrameHandle frame = graph_ ? graph_->receive() : nullptr) {
      decoded = std::exchange(marks_, {});
      decoded.frame = std::move(frame);
      return Decoder::Status::kFrame;
    }
    DecodedFrame next;
    const Decoder::Status status = decoder.receive(next, index);
    if (status == Decoder::Status::kFrame) {
      send(std::move(next), decoder);
    } else if (status == Decoder::Status::kEnded && graph_ && !graph_->has_ended()) {
      graph_->flush();
    } else {
      return status;
    }
  }
}

void DecoderFilter::send(DecodedFrame decoded, const Decoder& decoder) {
  AVFrame& frame = *decoded.frame;
  inherit_hdr(frame, stream_);
  inherit_layout(frame, stream_);
  if (!graph_) {
    const AVRational of_stream = stream_.sample_aspect_ratio;
    graph_.emplace(*chain_, FilterInput{.time_base = stream_.time_base,
                                        .frame_rate = rate_,
                                        .sample_aspect_ratio =
                                            decoder.cropper().sample_aspect_ratio().value_or(of_stream),
                                        .orientation = orientation_of(stream_, frame)});
  }
  marks_.is_damaged |= decoded.is_damaged;
  marks_.has_wrong_checksum |= decoded.has_wrong_checksum;
  marks_.has_wrong_time |= decoded.has_wrong_time;
  graph_->send(std::move(decoded.frame));
}

void DecoderFilter::forget_position() {
  if (graph_) {
    chain_->require_no_memory("seeking");
    graph_->reset();
  }
  marks_ = {};
}

}  // namespace limpid::io
