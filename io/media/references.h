// SPDX-License-Identifier: MIT
#pragma once

// Files that refer to other files, and sources that are not files. Private to io.

#include <string>
#include <utility>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// True for demuxers whose files are lists of other files or addresses: playlists, manifests, scripts. They
/// give their author access to all files that this process may read.
bool follows_references(const AVInputFormat& format);

/// True if the address selects the demuxer, as rtsp://camera/ and rtsps://camera/ do.
bool is_address_for(const std::string& url, const AVInputFormat& format);

/// A value for AVFormatContext::format_whitelist: all demuxers without references, and the demuxer that the
/// address selects.
std::string demuxers_without_references(const std::string& url);

/// The name of the demuxer for the source if it follows references; otherwise empty.
std::string demuxer_of_references(const std::string& libav_url, const AVIOInterruptCB& interrupt);

/// For AVFormatContext::protocol_whitelist.
inline constexpr const char* kLocalProtocols = "file,pipe";

/// Both throw Error, or UsageError for options, unless the source or target is a file or a pipe.
void require_local_source(const std::string& libav_url, const AVInputFormat* format,
                          const std::vector<std::pair<std::string, std::string>>& options);
void require_local_target(const std::string& url, const AVOutputFormat& container);

}  // namespace limpid::io
