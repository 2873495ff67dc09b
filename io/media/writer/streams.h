// SPDX-License-Identifier: MIT
// Streams of a container that is written, and files in memory for testing the capabilities of muxers. Private
// to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

/// Memory that receives the output of a muxer.
class MemoryOutput : NotCopyable {
 public:
  explicit MemoryOutput(AVFormatContext& muxer);
  ~MemoryOutput();

  /// Ends the output and returns its bytes, which are valid during this object's lifetime.
  std::span<const std::uint8_t> bytes();

 private:
  void close();

  AVFormatContext& muxer_;
  std::uint8_t* bytes_ = nullptr;
  int size_ = 0;
};

/// A demuxer that reads from memory. The bytes must outlive it.
class MemoryInput : NotCopyable {
 public:
  /// `muxer`: the name of the muxer that wrote the bytes.
  MemoryInput(std::span<const std::uint8_t> bytes, const char* muxer);
  ~MemoryInput() = default;

  /// Null if the bytes cannot be read.
  const AVFormatContext* get() const { return input_.get(); }

 private:
  int read(std::uint8_t* buffer, int size);
  std::int64_t seek(std::int64_t offset, int whence);

  struct ReaderDeleter {
    void operator()(AVIOContext* context) const;
  };

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  std::unique_ptr<AVIOContext, ReaderDeleter> reader_;
  InputHandle input_;
};

/// All streams, in the order of their indices.
inline std::span<AVStream* const> streams_of(const AVFormatContext& context) {
  return {context.streams, context.nb_streams};
}

/// A muxer without streams, and without a file to write to.
MuxerHandle make_muxer(const AVOutputFormat& container, const std::string& url);

/// Throws Error if memory is insufficient.
AVStream& add_stream(AVFormatContext& muxer);

/// A stream with the parameters, tags and side data of `from`. The muxer selects the codec's tag if it does
/// not support the source's.
AVStream& add_copied_stream(AVFormatContext& muxer, const AVStream& from);

/// A stream for the packets of `encoder`, with the tags and side data of `from`.
AVStream& add_transcoded_stream(AVFormatContext& muxer, const AVStream& from, const AVCodecContext& encoder);

/// Adds cover art as an attachment, as Matroska stores it.
void attach_cover(AVFormatContext& muxer, const AVStream& cover);

/// A description such as "the audio stream #1 (aac)".
std::string describe_stream(const AVStream& stream);

/// A container, the name of its file, and the encoder of the video in it.
struct FileKind {
  const AVOutputFormat& container;
  const std::string& url;
  const AVCodecContext& video;
};

/// Tests the muxer by writing a header to memory, and the demuxer of the mp4 family by reading it back.
bool can_hold_stream(const FileKind& file, const AVStream& stream);
/// Tests a stream with the packets of `encoder`.
bool can_hold_stream(const FileKind& file, const AVCodecContext& encoder);

// Tags of files and streams. Private to io.

/// Throws Error if memory is insufficient. An existing tag is replaced unless `flags` specify otherwise.
void set_tag(AVDictionary** tags, const std::string& key, const std::string& value, int flags = 0);

void copy_tags(AVDictionary** to, const AVDictionary* from);
/// Copies tags, except those that describe the source's container or encoded video.
void copy_lasting_tags(AVDictionary** to, const AVDictionary* from);

/// Removes tags with numbers of packets, bytes or seconds, for a stream that is cut or transcoded.
void drop_statistics(AVDictionary** tags);

/// Advances a timecode from the source's first frame to the beginning of the range.
void advance_timecode(AVDictionary** tags, const Source& source);

/// Selects the form of tags in QuickTime files: a fixed list of tags that all players read, or any tags in a
/// form that fewer players read. Selects the second form for tags of phones (place, device, time with its
/// zone). Returns a message about tags that are lost; empty if none. `options` are the user's options for the
/// muxer.
std::string keep_tags(AVFormatContext& muxer,
                      const std::vector<std::pair<std::string, std::string>>& options);

// Chapters of a source in its output. Private to io.

/// Copies the chapters, cut to the source's range and to the first `frame_limit` frames (0: all).
void copy_chapters(AVFormatContext& muxer, const Source& source, std::int64_t frame_limit);

}  // namespace limpid::io
