// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/frame/frame.h"

namespace limpid::io {

/// Hash of the samples of a frame in host memory; independent of strides and tags.
std::uint64_t sample_hash(const Frame& frame);

/// Hash of the samples, the presentation time and the interlacing: all input of a filter and an encoder.
std::uint64_t frame_hash(const Frame& frame);

/// Hash of a list of hashes, or of a text.
std::uint64_t hash_of(const std::vector<std::uint64_t>& hashes);
std::uint64_t hash_of(std::string_view text);

/// Hash of a file's size and, for long files, of parts from its beginning to its end: fast, and different for
/// nearly all different files. Throws Error if the file cannot be read.
std::uint64_t file_fingerprint(const char* path);

}  // namespace limpid::io
