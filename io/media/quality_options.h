// SPDX-License-Identifier: MIT
#pragma once

// Options for the bit rate and the quality of encoders. Private to io.

#include <string>
#include <utility>
#include <vector>

#include "io/media/libav.h"
#include "io/media/writer.h"

namespace limpid::io {

/// Quality of pictures, from 1 to 100, unless the user gives one.
inline constexpr int kPictureQuality = 90;

/// Throws UsageError for options of `writer` that the encoder ignores or that contradict each other.
void check_quality_options(const AVCodec& codec, const AVOutputFormat& container,
                           const WriterOptions& writer);

/// Throws UsageError for a bit rate that is likely meant in kbit/s or Mbit/s. `option` is its name.
void check_bit_rate(const std::string& option, const std::string& rate);

/// The options of an encoder of JPEG, WebP, AVIF or JPEG XL for a quality from 1 to 100; empty for other
/// encoders.
std::vector<std::pair<std::string, std::string>> picture_quality_options(const AVCodec& codec,
                                                                         const AVOutputFormat& container,
                                                                         int quality);

}  // namespace limpid::io
