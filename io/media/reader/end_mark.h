// SPDX-License-Identifier: MIT
#pragma once

// Marks that end a format's files. Private to io.

#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// A sentence about the missing mark if a file that has been read to its end lacks it; empty otherwise, and
/// for formats without such a mark, and for sources that cannot seek.
std::string missing_end(AVFormatContext& input);

/// True if the last bytes that were read are the trailer of a GIF.
bool is_behind_gif_trailer(const AVFormatContext& input);

}  // namespace limpid::io
