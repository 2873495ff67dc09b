// SPDX-License-Identifier: MIT
// A container file and its streams other than the video, with conversion of text subtitles. Private to io.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/media/audio_transcoder.h"
#include "io/media/diagnostic.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"
#include "io/media/picture_metadata.h"
#include "io/media/source.h"
#include "io/media/writer.h"
#include "io/media/writer/streams.h"

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

/// Writes header, packets and trailer. Streams, tags and chapters are added to context() before begin().
class Muxer {
 public:
  /// `file` receives the bytes; null for muxers that open their output themselves.
  Muxer(std::string url, const AVOutputFormat& container, std::unique_ptr<OutputFile> file);

  AVFormatContext& context() { return *context_; }
  /// The stream for write_video().
  AVStream& add_video();

  /// Sets an option that `encoder` does not have. Throws UsageError if the container does not have it either.
  void set_option(const std::string& key, const std::string& value, const std::string& encoder);
  /// Writes the header.
  void begin();

  /// Both throw DiskFull when the disk is full except for the reserved space. write() counts damaged packets
  /// and omits them.
  void write_video(PacketHandle packet, AVRational time_base);
  void write(PacketHandle packet, AVRational time_base, int stream);

  /// Writes the trailer. `edit` converts the written bytes to the final ones, in a file that still has a
  /// temporary name.
  void end(const std::function<Bytes(BytesView)>& edit = {});
  /// Renames an ended file, see OutputFile::commit().
  void commit(const std::function<void(const std::string&)>& when_whole);
  /// Renames an incomplete file, and returns the new name; empty if there is no OutputFile.
  std::string commit_partial();

  bool is_full() const { return file_ != nullptr && file_->is_full(); }
  bool has_temporary() const { return file_ != nullptr && !file_->temporary().empty(); }
  /// May be called from any thread.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t damaged_packets() const { return damaged_packets_; }

 private:
  void reserve_space();
  int interleave(PacketHandle packet, AVRational time_base, int stream);
  void check_written(int code);
  void count_bytes();

  std::string url_;
  std::unique_ptr<OutputFile> file_;
  MuxerHandle context_;
  int video_ = -1;                      ///< index of the stream of write_video()
  std::vector<std::int64_t> last_dts_;  ///< by stream
  std::int64_t damaged_packets_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

/// Sets the times of a packet as muxers require: a decoding time greater than `last` (or equal to it if times
/// may repeat), and a presentation time that is not earlier than the decoding time. Sets `last` to the
/// decoding time.
void set_increasing_times(AVPacket& packet, std::int64_t& last, bool may_repeat);

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
