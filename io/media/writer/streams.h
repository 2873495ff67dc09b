// SPDX-License-Identifier: MIT
#pragma once

// Streams of a container that is written. Private to io.

#include <span>
#include <string>

#include "io/media/libav.h"

namespace limpid::io {

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

}  // namespace limpid::io
