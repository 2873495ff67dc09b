// SPDX-License-Identifier: MIT
#pragma once

// The streams of a source other than its video, in the output. Private to io.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "io/media/audio_transcoder.h"
#include "io/media/diagnostic.h"
#include "io/media/libav.h"
#include "io/media/packet.h"
#include "io/media/source.h"
#include "io/media/subtitle_converter.h"
#include "io/media/writer/audio.h"
#include "io/media/writer/muxer.h"
#include "io/media/writer/streams.h"

namespace limpid::io {

/// True for a stream, other than the filtered video, that should be in the file. Reports streams that no file
/// can contain: other videos, and streams that libav does not support.
bool is_wanted(const Source& source, const AVStream& stream, Diagnostics& diagnostics);

/// Reports that a container called `container` cannot store the stream.
void report_not_held(const std::string& container, const AVStream& stream, const std::string& reason,
                     Diagnostics& diagnostics);

class Tracks {
 public:
  explicit Tracks(std::string url, Audio audio) : url_(std::move(url)), audio_(std::move(audio)) {}

  /// Adds a stream for `stream` of the source: copied, transcoded or converted to a format that the container
  /// stores. Reports changes, and the reason if there is no stream.
  void add(const AVStream& stream, const AVCodecContext& video, Muxer& muxer, Diagnostics& diagnostics);

  /// Writes a packet. Ignores packets of streams that have not been added.
  void write(const Packet& packet, Muxer& muxer);
  /// Writes the remaining packets of the transcoders. Ends all streams.
  void flush(Muxer& muxer);

  /// Number of packets that could not be transcoded.
  std::int64_t damaged_packets() const;

 private:
  /// The processing of a stream's packets, which are copied if there is neither transcoder nor converter.
  struct Track {
    int output;  ///< index of the file's stream
    std::unique_ptr<AudioTranscoder> audio;
    std::unique_ptr<SubtitleConverter> subtitles;
  };

  bool add_transcoded(const AVStream& stream, AudioRoute route, Muxer& muxer, Diagnostics& diagnostics);
  bool add_converted(const AVStream& stream, Muxer& muxer, Diagnostics& diagnostics);
  static void write_transcoded(const Track& track, Muxer& muxer);

  std::string url_;
  Audio audio_;
  std::map<int, Track> tracks_;  ///< tracks by the index of the source's stream
};

}  // namespace limpid::io
