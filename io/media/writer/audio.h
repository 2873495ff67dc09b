// SPDX-License-Identifier: MIT
#pragma once

// Copying and transcoding of a source's audio. Private to io.

#include <memory>
#include <string>

#include "io/media/audio_transcoder.h"
#include "io/media/libav.h"
#include "io/media/writer.h"
#include "io/media/writer/streams.h"

namespace limpid::io {

/// The processing of one audio stream.
struct AudioRoute {
  std::unique_ptr<AudioTranscoder> transcoder;  ///< null: the stream is copied if the container can store it
  std::string loss;                             ///< sentence about changes by transcoding; may be empty
  /// Reason why the stream is not transcoded, in brackets; may be empty.
  std::string refusal;
};

/// The user's settings for all audio. Audio that the container cannot store is transcoded by default, and
/// other audio is copied.
class Audio {
 public:
  /// Throws UsageError for an encoder or a bitrate that does not exist.
  Audio(const std::string& url, const AVOutputFormat& container, const WriterOptions& options);

  /// Throws UsageError if the container cannot store the output of the user's encoder.
  AudioRoute route(const FileKind& file, const AVStream& stream) const;

 private:
  std::unique_ptr<AudioTranscoder> make_transcoder(const FileKind& file, const AVStream& stream,
                                                   const AVCodec& codec) const;
  AudioRoute suitable_route(const FileKind& file, const AVStream& stream) const;

  const AVCodec* codec_ = nullptr;  ///< encoder for all audio, if the user has named one
  bool transcodes_;                 ///< false: audio that the container cannot store is left out
  std::string bitrate_;             ///< empty: a default for the codec
};

}  // namespace limpid::io
