// SPDX-License-Identifier: MIT
#include "io/media/grain_encoding.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/system/posix.h"

namespace limpid::io {
GrainEncoding::GrainEncoding(std::string url, FilmGrainTable table)
    : url_(std::move(url)),
      table_(std::move(table)),
      file_(posix::make_file_in_memory(to_text(table_), file_name_)) {
  if (file_.get() < 0) {
    throw Error("the film grain table cannot be stored in memory");
  }
}

std::string GrainEncoding::parameter() const { return "film-grain-table=" + file_name_; }

void GrainEncoding::open_check(const AVCodecContext& encoder) {
  const std::string failure = url_ + ": the film grain of the output cannot be checked: ";
  // libav's other decoders of AV1 do not report grain.
  const AVCodec* const codec = avcodec_find_decoder_by_name("libdav1d");
  if (codec == nullptr) {
    throw Error(failure + "this FFmpeg has no libdav1d");
  }
  decoder_.reset(avcodec_alloc_context3(codec));
  AVCodecParameters* parameters = avcodec_parameters_alloc();
  const bool is_set = decoder_ != nullptr && parameters != nullptr &&
                      avcodec_parameters_from_context(parameters, &encoder) >= 0 &&
                      avcodec_parameters_to_context(decoder_.get(), parameters) >= 0;
  avcodec_parameters_free(&parameters);
  if (is_set) {
    decoder_->pkt_timebase = encoder.time_base;
    decoder_->thread_count = 1;  // frame threads would delay frames
    decoder_->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
  }
  if (!is_set || avcodec_open2(decoder_.get(), codec, nullptr) < 0) {
    throw Error(failure + "its decoder cannot be opened");
  }
  is_checked_ = std::ranges::none_of(table_, &FilmGrainEntry::is_applied);
}

void GrainEncoding::note_encoded(const AVPacket& packet) {
  if (is_checked_) {
    return;
  }
  if (avcodec_send_packet(decoder_.get(), &packet) < 0) {
    throw Error(url_ + ": the film grain of the output cannot be checked: a packet cannot be decoded");
  }
  receive();
}

void GrainEncoding::finish() {
  if (!is_checked_ && decoder_ != nullptr) {
    avcodec_send_packet(decoder_.get(), nullptr);
    receive();
  }
}

void GrainEncoding::receive() {
  const FrameHandle frame = make_frame();
  while (!is_checked_ && avcodec_receive_frame(decoder_.get(), frame.get()) >= 0) {
    check_frame(*frame);
  }
  if (is_checked_) {
    decoder_ = nullptr;
  }
}

void GrainEncoding::check_frame(const AVFrame& frame) {
  if (first_pts_ == AV_NOPTS_VALUE) {
    first_pts_ = frame.pts;
  }
  constexpr AVRational kTick{1, kGrainTicksPerSecond};
  const std::int64_t time = av_rescale_q(frame.pts - first_pts_, decoder_->pkt_timebase, kTick);
  const auto entry = std::ranges::find_if(
      table_, [time](const FilmGrainEntry& each) { return time >= each.start && time < each.end; });
  if (entry == table_.end() || !entry->is_applied) {
    return;
  }
  if (av_frame_get_side_data(&frame, AV_FRAME_DATA_FILM_GRAIN_PARAMS) == nullptr) {
    throw Error(url_ + ": the encoder has left out the film grain");
  }
  is_checked_ = true;
}

}  // namespace limpid::io
