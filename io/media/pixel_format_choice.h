// SPDX-License-Identifier: MIT
#pragma once

// Choice of the pixel format for an encoder. Private to io.

#include <span>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Input of the choice.
struct PixelFormatRequest {
  const AVOutputFormat& container;
  const AVCodec& codec;
  FrameFormat source;
  bool codec_is_default = true;  ///< true if the user has not named the codec
  bool for_players = false;      ///< WriterOptions::for_players
};

/// Pixel formats that the encoder accepts for this container; empty: any.
std::span<const AVPixelFormat> accepted_pixel_formats(const AVOutputFormat& container, const AVCodec& codec);

/// Accepted pixel formats that suit the size of the source, planar ones first. For RGB in containers for
/// players, only 4:2:0 if the encoder supports it.
std::vector<AVPixelFormat> pixel_format_candidates(const PixelFormatRequest& request);

/// The candidate that keeps the most of the source: its samples unchanged if possible, otherwise in the order
/// alpha, depth, chroma resolution. None if swscale cannot convert to any candidate.
AVPixelFormat best_pixel_format(const std::vector<AVPixelFormat>& candidates, const FrameFormat& source);

/// Losses of a source in the `chosen` pixel format, one phrase each ("alpha is dropped").
std::vector<std::string> pixel_format_losses(const PixelFormatRequest& request, AVPixelFormat chosen);

}  // namespace limpid::io
