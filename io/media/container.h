// SPDX-License-Identifier: MIT
#pragma once

// Capabilities of containers that libav's muxers do not report. writer/streams.cpp tests the others: it
// writes a header with the stream to memory, and for mp4 and mov reads it back, where the stream must have
// the same codec. Private to io.

#include <string>

#include "io/media/libav.h"

namespace limpid::io {

bool is_cover_art(const AVStream& stream);

/// Matroska or WebM.
bool is_matroska(const AVOutputFormat& container);
/// True for the container of libav's WebP muxer, which stores one picture or an animation.
bool is_webp(const AVOutputFormat& container);

bool holds_display_matrix(const AVOutputFormat& container);
bool holds_chapters(const AVOutputFormat& container);
bool holds_timecode(const AVOutputFormat& container);
/// True if the container can store any packing of stereoscopic 3D; WebM supports few.
bool holds_stereo(const AVOutputFormat& container);

/// True for muxers that write several files, such as HLS and DASH.
bool writes_several_files(const AVOutputFormat& container);

/// True for containers that do not store the start time of audio.
bool counts_samples(const AVOutputFormat& container);

/// False for streams that the muxer accepts but writes, to a file of this name, in a form that no software
/// reads.
bool is_known(const AVOutputFormat& container, const std::string& url, const AVStream& stream);

/// True for cover art that is stored as an attachment.
bool attaches_cover(const AVOutputFormat& container, const AVStream& stream);

}  // namespace limpid::io
