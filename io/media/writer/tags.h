#pragma once

// Tags of files and streams. Private to io.

#include <string>
#include <utility>
#include <vector>

#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

/// Throws Error if memory is insufficient. An existing tag is replaced unless `flags` specify otherwise.
void set_tag(AVDictionary** tags, const std::string& key, const std::string& value, int flags = 0);

void copy_tags(AVDictionary** to, const AVDictionary* from);
/// Copies tags except those that describe the source's container or its encoded video.
void copy_lasting_tags(AVDictionary** to, const AVDictionary* from);

/// Removes tags that count the packets, bytes or seconds of a stream, for a stream that is cut or transcoded.
void drop_statistics(AVDictionary** tags);

/// Advances a timecode, which is that of the first frame, to the beginning of the source's range.
void advance_timecode(AVDictionary** tags, const Source& source);

/// QuickTime files have a fixed list of tags in the form that all players read, or any tags in another form.
/// Selects the other form for tags of phones: place, device, time with its zone. Returns the sentence about
/// tags that are lost, or nothing. `options` are the user's for the muxer.
std::string keep_tags(AVFormatContext& muxer,
                      const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace limpid::io
