// SPDX-License-Identifier: MIT
#include "io/media/writer/muxer.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/writer.h"
#include "io/media/writer/streams.h"

namespace limpid::io {
namespace {

std::string libav_url(const std::string& url, const OutputFile* file) {
  const std::string temporary = file == nullptr ? "" : file->temporary();
  return temporary.empty() ? url : "file:" + temporary;
}

/// Adds the encoder's delay, which readers of Matroska subtract and the muxer only stores.
void delay_opus(AVPacket& packet, const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const std::int64_t delay =
      av_rescale_q(parameters.initial_padding, {1, parameters.sample_rate}, stream.time_base);
  packet.pts += packet.pts == AV_NOPTS_VALUE ? 0 : delay;
  packet.dts += packet.dts == AV_NOPTS_VALUE ? 0 : delay;
}

}  // namespace

void set_increasing_times(AVPacket& packet, std::int64_t& last, bool may_repeat) {
  if (packet.dts == AV_NOPTS_VALUE) {
    packet.dts = packet.pts != AV_NOPTS_VALUE ? packet.pts : last == AV_NOPTS_VALUE ? 0 : last + 1;
  }
  if (last != AV_NOPTS_VALUE) {
    packet.dts = std::max(packet.dts, last + (may_repeat ? 0 : 1));
  }
  if (packet.pts == AV_NOPTS_VALUE || packet.pts < packet.dts) {
    packet.pts = packet.dts;
  }
  last = packet.dts;
}

Muxer::Muxer(std::string url, const AVOutputFormat& container, std::unique_ptr<OutputFile> file)
    : url_(std::move(url)),
      file_(std::move(file)),
      context_(make_muxer(container, libav_url(url_, file_.get()))) {
  if (file_ != nullptr) {
    context_->pb = file_->bytes();
    reserve_space();
  }
}

void Muxer::reserve_space() {
  const std::int64_t reserve = file_->reserve_space();
  if (traits_of(*context_->oformat).is_matroska) {
    // A cluster is written when it is complete. Small ones lose less in a crash, and the last one must fit
    // the space reserved for the end.
    constexpr std::int64_t kMost = 1 << 20;
    constexpr std::int64_t kLeast = 1 << 14;
    const std::int64_t size = reserve == 0 ? kMost : std::clamp(reserve / 4, kLeast, kMost);
    set_option("cluster_size_limit", std::to_string(size), "");
    set_option("cluster_time_limit", "1000", "");
  }
}

AVStream& Muxer::add_video() {
  video_ = static_cast<int>(context_->nb_streams);
  return add_stream(*context_);
}

void Muxer::set_option(const std::string& key, const std::string& value, const std::string& encoder) {
  const int code = av_opt_set(context_.get(), key.c_str(), value.c_str(), AV_OPT_SEARCH_CHILDREN);
  if (code == AVERROR_OPTION_NOT_FOUND) {
    throw UsageError("the encoder " + encoder + " has no option '" + key + "'");
  }
  if (code < 0) {
    throw UsageError(std::string("the container ") + context_->oformat->name + " doesn't take '" + value +
                     "' for its option '" + key + "'");
  }
}

void Muxer::begin() {
  last_dts_.assign(context_->nb_streams, AV_NOPTS_VALUE);
  forget_logged_messages();
  if (const int code = avformat_write_header(context_.get(), nullptr); code < 0) {
    throw Error(url_ + ": can't begin the file as " + context_->oformat->name + ": " + error_text(code) +
                logged_reason());
  }
}

void Muxer::write_video(PacketHandle packet, AVRational time_base) {
  check_written(interleave(std::move(packet), time_base, video_));
}

void Muxer::write(PacketHandle packet, AVRational time_base, int stream) {
  int code = interleave(std::move(packet), time_base, stream);
  if (code == AVERROR_INVALIDDATA) {
    ++damaged_packets_;  // found by a filter that converts between the containers' forms of the codec
    code = 0;
  }
  check_written(code);
}

int Muxer::interleave(PacketHandle packet, AVRational time_base, int stream) {
  const AVStream& target = *context_->streams[stream];
  const AVOutputFormat& container = *context_->oformat;
  av_packet_rescale_ts(packet.get(), time_base, target.time_base);
  if (!kMatroskaAddsDelay && target.codecpar->codec_id == AV_CODEC_ID_OPUS &&
      traits_of(container).is_matroska) {
    delay_opus(*packet, target);
  }
  packet->stream_index = stream;
  packet->pos = -1;
  set_increasing_times(*packet, last_dts_.at(static_cast<std::size_t>(stream)),
                       (container.flags & AVFMT_TS_NONSTRICT) != 0);
  return av_interleaved_write_frame(context_.get(), packet.get());
}

void Muxer::check_written(int code) {
  if (code < 0) {
    check(code, url_, "can't write" + logged_reason());
  }
  count_bytes();
  if (is_full()) {
    throw DiskFull(url_ + ": can't write: " + error_text(AVERROR(file_->full_because())));
  }
}

void Muxer::count_bytes() {
  if (context_->pb != nullptr) {
    bytes_ = std::max<std::int64_t>(bytes_, avio_tell(context_->pb));
  }
}

void Muxer::end(const std::function<Bytes(BytesView)>& edit) {
  check(av_write_trailer(context_.get()), url_, "can't finish the file");
  if (edit && has_temporary()) {
    avio_flush(context_->pb);
    std::ifstream stream(file_->temporary(), std::ios::binary);
    const Bytes written((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    avio_seek(context_->pb, 0, SEEK_SET);
    write_bytes(*context_->pb, edit(written));
  }
  if (context_->pb != nullptr) {
    avio_flush(context_->pb);
  }
  count_bytes();
  context_->pb = nullptr;
}

void Muxer::commit(const std::function<void(const std::string&)>& when_whole) {
  if (file_ != nullptr) {
    file_->commit(true, when_whole);
  }
  file_.reset();
}

std::string Muxer::commit_partial() {
  const std::unique_ptr<OutputFile> ended = std::move(file_);
  return ended == nullptr ? "" : ended->commit_partial();
}

}  // namespace limpid::io
