#pragma once

// Opening a source. Private to io.

#include <cstdint>
#include <optional>
#include <string>

#include "io/media/libav.h"
#include "io/media/reader.h"

namespace limpid::io {

/// The demuxer that ReaderOptions ask for; null if it is to be found from the content. Throws Error or
/// UsageError if they forbid it.
const AVInputFormat* requested_format(const std::string& url, const ReaderOptions& options);

/// The number of the first picture of a sequence such as "img_%03d.png": the least one, or from the option
/// start_number on. Nothing if there is no such file.
std::optional<std::int64_t> first_of_sequence(const std::string& url, const ReaderOptions& options);

/// Opens a source, with the `requested` demuxer if that isn't null, from `bytes` if it is a pipe, otherwise
/// null. The demuxer takes its options out of `unused`. Throws Error with a sentence that names the source
/// and says why it can't be read, NoVideo if it isn't media, and UsageError for options.
InputHandle open_input(const std::string& url, const ReaderOptions& options, const AVInputFormat* requested,
                       AVIOContext* bytes, const AVIOInterruptCB& interrupt, Dictionary& unused);

}  // namespace limpid::io
