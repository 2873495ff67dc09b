// SPDX-License-Identifier: MIT
#pragma once

// Opening a source. Private to io.

#include <string>

#include "io/media/libav.h"
#include "io/media/reader.h"

namespace limpid::io {

/// The demuxer that ReaderOptions request; null if it is to be detected from the content. Throws Error or
/// UsageError if the options forbid it.
const AVInputFormat* requested_format(const std::string& url, const ReaderOptions& options);

/// Opens a source with the `requested` demuxer, unless that is null, and from `bytes` if the source is a pipe
/// (otherwise null). `pattern`: a name with wildcards for a sequence of pictures; empty for others. The
/// demuxer removes its options from `unused`. Throws an Error that names the source and the reason, NoVideo
/// if the source is not media, and UsageError for options.
InputHandle open_input(const std::string& url, const std::string& pattern, const ReaderOptions& options,
                       const AVInputFormat* requested, AVIOContext* bytes, const AVIOInterruptCB& interrupt,
                       Dictionary& unused);

}  // namespace limpid::io
