#pragma once

// How the sound of a source gets into a file: copied or transcoded. Private to io.

#include <memory>
#include <string>

#include "io/media/audio_transcoder.h"
#include "io/media/libav.h"
#include "io/media/writer.h"
#include "io/media/writer/streams.h"

namespace limpid::io {

/// The way of one audio stream.
struct AudioRoute {
  std::unique_ptr<AudioTranscoder> transcoder;  ///< null: copied if the container can hold it
  std::string loss;                             ///< sentence about what transcoding changes; may be empty
  std::string refusal;                          ///< why it is not transcoded, in brackets; may be empty
};

/// The user's choice for all sound. Without it, sound that the container cannot hold is transcoded, and other
/// sound is copied.
class Audio {
 public:
  /// Throws UsageError for an encoder or a bitrate that does not exist.
  Audio(const std::string& url, const AVOutputFormat& container, const WriterOptions& options);

  /// Throws UsageError if the container cannot hold what the user's encoder makes.
  AudioRoute route(const FileKind& file, const AVStream& stream) const;

 private:
  std::unique_ptr<AudioTranscoder> make_transcoder(const FileKind& file, const AVStream& stream,
                                                   const AVCodec& codec) const;
  AudioRoute suitable_route(const FileKind& file, const AVStream& stream) const;

  const AVCodec* codec_ = nullptr;  ///< of all sound, if the user has named one
  bool transcodes_;                 ///< false: sound that the container cannot hold is left out
  std::string bitrate_;             ///< empty: what suits the codec
};

}  // namespace limpid::io
