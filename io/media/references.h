#pragma once

// Files that lead to other files. Private to io.

#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// True for demuxers whose files are lists of other files or addresses: playlists, manifests, scripts.
/// Whoever may hand in such a file gets at all that this process may read.
bool follows_references(const AVInputFormat& format);

/// For AVFormatContext::format_whitelist: all demuxers but those.
const std::string& demuxers_without_references();

/// The name of the demuxer for the file if that is one of those; otherwise empty.
std::string demuxer_of_references(const std::string& libav_url);

}  // namespace limpid::io
