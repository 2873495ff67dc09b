// SPDX-License-Identifier: MIT
#include "io/media/libav_setup.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

extern "C" {
#include <libavutil/cpu.h>
#include <libavutil/log.h>
}
#include "core/base/system/posix.h"
#include "core/base/system/thread_storage.h"

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

namespace {

/// Guards the sink. A copy is called outside the lock so that a slow sink does not block other threads.
struct SinkHolder {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;
};

SinkHolder& sink_holder() {
  static SinkHolder holder;
  return holder;
}

/// What libav has logged on a thread.
struct Notes {
  std::string unfinished_line;  ///< the pieces before a line break
  std::string first_error;
  std::string demuxer_error;
  std::set<int> corrupt_streams;
  std::set<int> interrupted_pids;
  std::vector<std::string> first_warnings;
};

Notes& notes() { return thread_storage<Notes>(); }

constexpr std::size_t kMostWarnings = 8;

struct DecoderError {
  std::mutex mutex;
  std::string line;
};

DecoderError& decoder_error() {
  static DecoderError error;
  return error;
}

void note_decoder_error(void* object, const std::string& line) {
  if (object != nullptr && *static_cast<const AVClass**>(object) == avcodec_get_class()) {
    const std::lock_guard lock(decoder_error().mutex);
    decoder_error().line = line;
  }
}

LogSeverity severity_of(int level) {
  if (level <= AV_LOG_PANIC) {
    return LogSeverity::kPanic;
  }
  if (level <= AV_LOG_ERROR) {
    return LogSeverity::kError;
  }
  if (level <= AV_LOG_WARNING) {
    return LogSeverity::kWarning;
  }
  return level <= AV_LOG_INFO ? LogSeverity::kInfo : LogSeverity::kDebug;
}

bool is_demuxer(void* object) {
  const AVClass* const object_class = object == nullptr ? nullptr : *static_cast<const AVClass**>(object);
  if (object_class == nullptr) {
    return false;
  }
  return (object_class->get_category != nullptr ? object_class->get_category(object)
                                                : object_class->category) == AV_CLASS_CATEGORY_DEMUXER;
}

/// Parsers drop the mark of the packet, so that the line is the only trace.
void note_corrupt_packet(void* object, const std::string& line) {
  constexpr std::string_view kText = "] Packet corrupt (stream = ";
  const std::size_t at = line.find(kText);
  if (at != std::string::npos && is_demuxer(object)) {
    notes().corrupt_streams.insert(std::atoi(line.c_str() + at + kText.size()));
  }
}

/// The demuxer of transport streams reports lost packets for debugging only.
[[gnu::format(printf, 1, 0)]] void note_lost_packets(const char* format, va_list arguments) {
  constexpr std::string_view kText = "Continuity check failed for pid ";
  if (std::string_view(format).starts_with(kText)) {
    char text[kText.size() + 64];
    std::vsnprintf(text, sizeof text, format, arguments);
    notes().interrupted_pids.insert(std::atoi(text + kText.size()));
  }
}

[[gnu::format(printf, 3, 0)]] void take_message(void* object, int level, const char* format,
                                                va_list arguments) {
  if (level > AV_LOG_VERBOSE) {
    return note_lost_packets(format, arguments);
  }
  constexpr std::size_t kMostBytes = 1024;
  char text[kMostBytes];
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  if (length < 0) {
    return;
  }
  if (static_cast<std::size_t>(length) >= kMostBytes) {
    text[kMostBytes - 2] = '\n';  // the end of the line was cut off
  }
  if (notes().unfinished_line.empty() && object != nullptr) {
    const AVClass* const object_class = *static_cast<AVClass**>(object);
    if (object_class != nullptr) {
      notes().unfinished_line = "[" + std::string(object_class->item_name(object)) + "] ";
    }
  }
  notes().unfinished_line += text;
  if (notes().unfinished_line.empty() || notes().unfinished_line.back() != '\n') {
    return;
  }
  notes().unfinished_line.pop_back();
  const std::string line = std::exchange(notes().unfinished_line, {});
  if (level <= AV_LOG_ERROR) {
    notes().first_error = notes().first_error.empty() ? line : notes().first_error;
    notes().demuxer_error =
        notes().demuxer_error.empty() && is_demuxer(object) ? line : notes().demuxer_error;
    note_decoder_error(object, line);
    DecoderErrors::on_logged_error(object, line);
  }
  if (level > AV_LOG_ERROR && level <= AV_LOG_WARNING) {
    note_corrupt_packet(object, line);
    if (notes().first_warnings.size() < kMostWarnings) {
      notes().first_warnings.push_back(line);
    }
  }

  std::shared_ptr<const LogSink> sink;
  {
    SinkHolder& holder = sink_holder();
    const std::lock_guard lock(holder.mutex);
    sink = holder.sink;
  }
  if (sink != nullptr && *sink) {
    (*sink)(severity_of(level), line);
  }
}

/// Called by C code, also on libav's threads; must not throw.
[[gnu::format(printf, 3, 0)]] void on_libav_message(void* object, int level, const char* format,
                                                    va_list arguments) noexcept {
  try {
    take_message(object, level, format, arguments);
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory, which the failed call reports
  }
}

std::string numbers(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

void take_over_logs() {
  av_log_set_callback(on_libav_message);
  // Independent of libav's log level. The variable enables SVT-AV1's lines.
  posix::setenv("SVT_LOG", "0", 0);
}

void set_log_sink(LogSink sink) {
  SinkHolder& holder = sink_holder();
  const std::lock_guard lock(holder.mutex);
  holder.sink = std::make_shared<const LogSink>(std::move(sink));
}

void forget_logged_messages() {
  notes().first_error.clear();
  notes().first_warnings.clear();
}

void forget_decoder_error() {
  const std::lock_guard lock(decoder_error().mutex);
  decoder_error().line.clear();
}

std::string last_decoder_error() {
  const std::lock_guard lock(decoder_error().mutex);
  return decoder_error().line;
}

std::string first_logged_error() { return notes().first_error; }

std::string take_demuxer_error() { return std::exchange(notes().demuxer_error, {}); }

std::set<int> take_corrupt_streams() { return std::exchange(notes().corrupt_streams, {}); }

std::set<int> take_interrupted_pids() { return std::exchange(notes().interrupted_pids, {}); }

std::vector<std::string> first_logged_warnings() { return notes().first_warnings; }

void limit_libav_threads(int processors) {
  if (processors < av_cpu_count()) {
    av_cpu_force_count(processors);
  }
}

std::string ffmpeg_version() {
  return std::string(av_version_info()) + " (libavformat " + numbers(avformat_version()) + ", libavcodec " +
         numbers(avcodec_version()) + ", libavutil " + numbers(avutil_version()) + ")";
}

}  // namespace limpid::io
