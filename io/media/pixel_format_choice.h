#pragma once

// Choice of the pixel format that an encoder gets. Private to io.

#include <span>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// What the choice depends on.
struct PixelFormatRequest {
  const AVOutputFormat& container;
  const AVCodec& codec;
  FrameFormat source;
  bool codec_is_default = true;  ///< the user has not named the codec
};

/// True for encoders that reject sizes which the chroma subsampling does not divide.
bool needs_whole_chroma(const AVCodec& codec);

/// Pixel formats that the encoder accepts for this container; empty: any.
std::span<const AVPixelFormat> accepted_pixel_formats(const AVOutputFormat& container, const AVCodec& codec);

/// Accepted pixel formats that suit the size of the source, planar ones first. RGB in containers that are
/// made for players gets 4:2:0 alone, where the encoder has it.
std::vector<AVPixelFormat> pixel_format_candidates(const PixelFormatRequest& request);

/// The candidate that keeps the most of the source: its samples as they are if possible, else in the order
/// alpha, depth, chroma resolution. None if swscale can convert to no candidate.
AVPixelFormat best_pixel_format(const std::vector<AVPixelFormat>& candidates, const FrameFormat& source);

/// What a source loses in the `chosen` pixel format, one phrase each ("alpha is dropped").
std::vector<std::string> pixel_format_losses(const PixelFormatRequest& request, AVPixelFormat chosen);

}  // namespace limpid::io
