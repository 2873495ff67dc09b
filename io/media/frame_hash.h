#pragma once

#include <cstdint>
#include <vector>

#include "core/frame/frame.h"

namespace limpid::io {

/// Of the samples of a frame in host memory; neither strides nor tags count.
std::uint64_t sample_hash(const Frame& frame);

/// Of the samples, of when the frame is shown and of whether it is interlaced: of all that a filter and an
/// encoder go by.
std::uint64_t frame_hash(const Frame& frame);

/// One hash of several, in their order.
std::uint64_t hash_of(const std::vector<std::uint64_t>& hashes);

/// Of a file's size and, of a long file, of parts from its beginning to its end: quick, and another one for
/// nearly every other file. Throws Error if it can't be read.
std::uint64_t file_fingerprint(const char* path);

}  // namespace limpid::io
