#pragma once

// What containers hold, as far as libav's muxers don't tell themselves. What they do tell is asked of them in
// writer/streams.cpp: a header with the stream is written to memory, and in mp4 and mov read again, where the
// stream must come back as the same codec. Private to io.

#include <string>

#include "io/media/libav.h"

namespace limpid::io {

bool is_cover_art(const AVStream& stream);

/// Matroska or WebM.
bool is_matroska(const AVOutputFormat& container);
/// One picture or an animation, by libav's muxer of WebP.
bool is_webp(const AVOutputFormat& container);

bool holds_display_matrix(const AVOutputFormat& container);
bool holds_chapters(const AVOutputFormat& container);
bool holds_timecode(const AVOutputFormat& container);
/// How pictures for two eyes are packed into one, of any kind: WebM knows few.
bool holds_stereo(const AVOutputFormat& container);

/// True for muxers that open files of their own, several of them, such as those of HLS and DASH.
bool writes_several_files(const AVOutputFormat& container);

/// True for those that don't store when sound begins.
bool counts_samples(const AVOutputFormat& container);

/// False for streams that the muxer takes but writes, to a file of this name, in a way that nobody reads.
bool is_known(const AVOutputFormat& container, const std::string& url, const AVStream& stream);

/// True for cover art that becomes an attachment.
bool attaches_cover(const AVOutputFormat& container, const AVStream& stream);

}  // namespace limpid::io
