#pragma once

// What libavcodec's decoder of TIFF does not read, or reads wrong without an error. Private to io.

#include <cstdint>
#include <span>
#include <string>

namespace limpid::io {

/// Why a TIFF file can't be read ("it has 12 pages, of which only the first can be read; ..."); empty if it
/// can.
std::string why_tiff_is_unreadable(std::span<const std::uint8_t> file);

}  // namespace limpid::io
