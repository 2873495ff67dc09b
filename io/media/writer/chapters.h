// SPDX-License-Identifier: MIT
#pragma once

// Chapters of a source in its output. Private to io.

#include <cstdint>

#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

/// Copies the chapters, cut to the source's range and to the first `frame_limit` frames (0: all).
void copy_chapters(AVFormatContext& muxer, const Source& source, std::int64_t frame_limit);

}  // namespace limpid::io
