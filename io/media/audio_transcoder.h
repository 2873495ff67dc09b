// SPDX-License-Identifier: MIT
#pragma once

// Transcoding of audio for containers that cannot store the source's codec. Private to io.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/audio_graph.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Finds an encoder by its own name or the codec's. Throws UsageError if there is no audio encoder of that
/// name, or if the container certainly cannot store its output.
const AVCodec& find_audio_encoder(const std::string& name, const AVOutputFormat& container,
                                  const std::string& url);

/// Encoders that suit the container, best first: AAC for mp4, mov and ts; Opus for webm; MP3 for avi, or AC-3
/// for more than two channels; the muxer's suggestion for others. It is not certain that the container can
/// store their output.
std::vector<const AVCodec*> suitable_audio_encoders(const AVOutputFormat& container, int channels);

/// Throws UsageError if `bitrate` ("160k") is invalid.
void check_audio_bitrate(const std::string& bitrate);

struct AudioEncoding {
  std::string bitrate;             ///< empty: a default for the codec and the number of channels
  bool global_header = false;      ///< the container stores the codec's header outside the packets
  bool counts_samples = false;     ///< the container stores no times: audio begins at zero
  std::optional<int> sample_rate;  ///< required by the container
};

/// Decodes the packets of an audio stream and encodes them again, by an AudioGraph. The encoder's priming
/// precedes the first sample. Channels are kept if the encoder has a layout for them, otherwise mixed. Used
/// like libav's codecs: after each send() and after flush(), call receive() until it returns nothing.
/// Functions throw an Error that begins with `subject`.
class AudioTranscoder : NotCopyable {
 public:
  AudioTranscoder(const AVStream& source, const AVCodec& codec, const AudioEncoding& encoding,
                  std::string subject);

  const AVCodecContext& encoder() const { return *encoder_; }
  /// Text such as ", mixed from 5.1 to stereo"; empty if only the codec changes.
  const std::string& changes() const { return changes_; }

  /// `packet` has times in the time base of the source's stream.
  void send(const AVPacket& packet);
  /// Ends the stream.
  void flush();
  /// The next packet in encoder().time_base.
  PacketHandle receive();

  /// Packets so far that could not be decoded; silence replaces them.
  std::int64_t damaged_packets() const { return damaged_packets_; }

 private:
  void open_encoder(const AVCodec& codec, const AudioEncoding& encoding);
  bool feed_encoder();
  bool decode_frame();

  std::string subject_;
  std::string changes_;
  AVRational source_time_base_;
  CodecHandle decoder_;
  CodecHandle encoder_;
  int frame_size_ = 0;  ///< samples per frame of the encoder
  std::optional<AudioGraph> graph_;
  FrameHandle decoded_;
  bool draining_ = false;  ///< all packets have been sent
  bool flushed_ = false;   ///< the encoder has received everything
  std::int64_t damaged_packets_ = 0;
};

}  // namespace limpid::io
