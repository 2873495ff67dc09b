// SPDX-License-Identifier: MIT
#include "io/media/checksums.h"

namespace limpid::io {

bool ChecksumErrors::is_for(AVCodecID codec) {
  return codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_FFV1;
}

void ChecksumErrors::watch(AVCodecContext& decoder) {
  decoder.err_recognition |= AV_EF_CRCCHECK;
  decoder.opaque = this;
  decoder.get_buffer2 = get_buffer;
  allow_callbacks_from_threads(decoder);
}

int ChecksumErrors::get_buffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
  const int code = avcodec_default_get_buffer2(decoder, frame, flags);
  if (code >= 0 && frame->buf[0] != nullptr) {
    auto& errors = *static_cast<ChecksumErrors*>(decoder->opaque);
    const std::scoped_lock lock(errors.mutex_);
    errors.current_[decoder] = frame->buf[0]->data;
    errors.wrong_.erase(frame->buf[0]->data);
  }
  return code;
}

void ChecksumErrors::on_logged_error(void* object, const std::string& line) {
  if (object == nullptr || *static_cast<const AVClass**>(object) != avcodec_get_class()) {
    return;
  }
  const auto* const decoder = static_cast<const AVCodecContext*>(object);
  const bool is_mismatch = line.find("mismatching checksum") != std::string::npos ||
                           line.find("CRC mismatch") != std::string::npos;
  if (decoder->get_buffer2 != get_buffer || !is_mismatch) {
    return;
  }
  auto& errors = *static_cast<ChecksumErrors*>(decoder->opaque);
  const std::scoped_lock lock(errors.mutex_);
  if (const auto current = errors.current_.find(decoder); current != errors.current_.end()) {
    errors.wrong_.insert(current->second);
  }
}

bool ChecksumErrors::take(const AVFrame& frame) {
  const std::scoped_lock lock(mutex_);
  return frame.buf[0] != nullptr && wrong_.erase(frame.buf[0]->data) > 0;
}

}  // namespace limpid::io
