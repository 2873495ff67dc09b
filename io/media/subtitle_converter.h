// SPDX-License-Identifier: MIT
#pragma once

// Conversion of text subtitles for containers that have their own format for them. Private to io.

#include <memory>
#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// Decodes the packets of a stream of text subtitles and encodes them for another container, as ffmpeg does.
/// Words, lines and simple styles are kept.
class SubtitleConverter {
 public:
  /// Null if `stream` is not text, or libav cannot convert it.
  static std::unique_ptr<SubtitleConverter> make(const AVStream& stream, AVCodecID target);

  const AVCodecContext& encoder() const { return *encoder_; }

  /// The subtitle in the other format; null for packets without visible text. Throws an Error that names
  /// `subject` if it cannot be encoded.
  PacketHandle convert(const AVPacket& packet, AVRational time_base, const std::string& subject);

 private:
  SubtitleConverter(CodecHandle decoder, CodecHandle encoder)
      : decoder_(std::move(decoder)), encoder_(std::move(encoder)) {}

  CodecHandle decoder_;
  CodecHandle encoder_;
};

}  // namespace limpid::io
