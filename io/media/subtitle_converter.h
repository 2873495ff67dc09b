#pragma once

// Text subtitles for containers that have a form of their own for them. Private to io.

#include <memory>
#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// The codec that `container` holds text subtitles as; none if it holds no text.
AVCodecID text_subtitle_codec(const AVOutputFormat& container);

/// Decodes the packets of a stream of text subtitles and encodes them for another container, as ffmpeg does.
/// Words, lines and simple styles are kept.
class SubtitleConverter {
 public:
  /// Null if `stream` is not text, or libav can't convert it.
  static std::unique_ptr<SubtitleConverter> make(const AVStream& stream, AVCodecID target);

  const AVCodecContext& encoder() const { return *encoder_; }

  /// The same event in the other form; null for packets that show nothing. Throws Error, which names
  /// `subject`, if it can't be encoded.
  PacketHandle convert(const AVPacket& packet, AVRational time_base, const std::string& subject);

 private:
  SubtitleConverter(CodecHandle decoder, CodecHandle encoder)
      : decoder_(std::move(decoder)), encoder_(std::move(encoder)) {}

  CodecHandle decoder_;
  CodecHandle encoder_;
};

}  // namespace limpid::io
