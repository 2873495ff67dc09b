// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

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
