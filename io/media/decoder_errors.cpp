// SPDX-License-Identifier: MIT
#include "io/media/decoder_errors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace limpid::io {
namespace {

template <std::size_t count>
bool contains_any(std::string_view line, const std::array<std::string_view, count>& texts) {
  return std::ranges::any_of(texts, [&](std::string_view text) { return line.find(text) != line.npos; });
}

bool is_about_checksum(std::string_view line) {
  return contains_any(line, std::array<std::string_view, 2>{"mismatching checksum", "CRC mismatch"});
}

/// True for errors that do not concern samples: in supplemental information, in hints for display and in
/// limits that some encoders exceed, and for orders to drop references that are gone.
bool is_harmless(std::string_view line) {
  return contains_any(line,
                      std::array<std::string_view, 4>{"SEI", "VUI", "exceeds max", "unref short failure"});
}

/// True for errors about frames that precede a cut.
bool is_about_references(std::string_view line) {
  return contains_any(line,
                      std::array<std::string_view, 4>{"eference", "co located POCs", "ref with POC", "RPS"});
}

}  // namespace

DecoderErrors::DecoderErrors() {
  for (Sent& sent : sent_) {
    sent.errors = this;
  }
}

void DecoderErrors::watch(AVCodecContext& decoder, bool checksums) {
  decoder.err_recognition |= checksums ? AV_EF_CRCCHECK : 0;
  decoder.opaque = sent_.data();
  decoder.get_buffer2 = get_buffer;
  allow_callbacks_from_threads(decoder);
}

void DecoderErrors::begin(AVCodecContext& decoder, const AVPacket& packet, bool counts) {
  const std::scoped_lock lock(mutex_);
  if ((packet.flags & AV_PKT_FLAG_KEY) != 0) {
    key_time_ = key_frames_++ == 0 ? packet.pts : key_time_;
  }
  const bool precedes_key =
      packet.pts == AV_NOPTS_VALUE || key_time_ == AV_NOPTS_VALUE || packet.pts < key_time_;
  Sent& sent = sent_[static_cast<std::size_t>(++packets_) % kMostSent];
  sent.index = packets_;
  sent.counts = counts && key_frames_ > 0;
  sent.may_lack_references = key_frames_ <= 1 && precedes_key;
  decoder.opaque = &sent;
}

int DecoderErrors::get_buffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
  const int code = avcodec_default_get_buffer2(decoder, frame, flags);
  if (code >= 0 && frame->buf[0] != nullptr) {
    DecoderErrors& errors = *static_cast<const Sent*>(decoder->opaque)->errors;
    const std::scoped_lock lock(errors.mutex_);
    errors.current_[decoder] = frame->buf[0]->data;
    errors.wrong_.erase(frame->buf[0]->data);
  }
  return code;
}

void DecoderErrors::on_logged_error(void* object, const std::string& line) {
  if (object == nullptr || *static_cast<const AVClass**>(object) != avcodec_get_class()) {
    return;
  }
  const auto* const decoder = static_cast<const AVCodecContext*>(object);
  if (decoder->get_buffer2 != get_buffer) {
    return;
  }
  const Sent& packet = *static_cast<const Sent*>(decoder->opaque);
  const std::scoped_lock lock(packet.errors->mutex_);
  if (is_about_checksum(line)) {
    packet.errors->note_wrong_checksum(*decoder);
  } else {
    packet.errors->note(packet, line);
  }
}

void DecoderErrors::note_wrong_checksum(const AVCodecContext& decoder) {
  if (const auto current = current_.find(&decoder); current != current_.end()) {
    wrong_.insert(current->second);
  }
}

void DecoderErrors::note(const Sent& packet, const std::string& line) {
  const bool is_of_cut = packet.may_lack_references && is_about_references(line);
  if (packet.counts && !is_of_cut && !is_harmless(line)) {
    pending_.emplace(packet.index, line);
  }
}

bool DecoderErrors::take_wrong_checksum(const AVFrame& frame) {
  const std::scoped_lock lock(mutex_);
  return frame.buf[0] != nullptr && wrong_.erase(frame.buf[0]->data) > 0;
}

void DecoderErrors::forget_position() {
  const std::scoped_lock lock(mutex_);
  key_frames_ = 0;
  key_time_ = AV_NOPTS_VALUE;
  pending_.clear();
}

DecoderErrors::Summary DecoderErrors::summary(const AVCodecContext& decoder, bool is_complete) {
  const bool has_frame_threads = (decoder.active_thread_type & FF_THREAD_FRAME) != 0;
  const std::scoped_lock lock(mutex_);
  const std::int64_t finished = packets_ - (has_frame_threads ? decoder.thread_count : 0);
  while (!pending_.empty() && (is_complete || pending_.begin()->first <= finished)) {
    const auto error = pending_.extract(pending_.begin());
    summary_.first = summary_.packets++ == 0 ? std::move(error.mapped()) : summary_.first;
  }
  return summary_;
}

}  // namespace limpid::io
