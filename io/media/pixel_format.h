// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

// Conversion between libav's pixel formats and core's frame formats. Private to io.

/// The frame format, without size and color tags, with the samples of a pixel format, which may be packed,
/// byte-swapped or shifted in libav's memory. Nothing for formats whose samples core does not support (fewer
/// than 8 bits, palettes, Bayer patterns, hardware surfaces); swscale must convert these.
std::optional<FrameFormat> frame_format(AVPixelFormat format);

/// True if each component has its own plane and is stored as core stores samples.
bool is_planar(AVPixelFormat format);

/// The pixel format for samples of `format`: planar, except gray with alpha, for which libav has no planar
/// format. None if libav has no such format.
AVPixelFormat pixel_format(const FrameFormat& format);

/// A pixel format with a frame_format() to which swscale can convert a pixel format without one.
/// `transparent`: keep the alpha channel of a palette. None if swscale cannot read the format.
AVPixelFormat readable_equivalent(AVPixelFormat format, bool transparent);

/// The format without the full range that libav's deprecated yuvj formats imply.
AVPixelFormat without_range(AVPixelFormat format);
bool implies_full_range(AVPixelFormat format);

/// True for gray, with or without alpha.
bool is_gray(AVPixelFormat format);

/// True if samples with this tag are full range. The tag takes precedence over the name of a yuvj format,
/// which decoders keep when the range changes in mid-stream. Gray without a tag is full range, as in
/// libswscale.
bool is_full_range(AVPixelFormat format, AVColorRange tag);

/// Number of bits of the first component.
int depth_of(AVPixelFormat format);
/// True for RGB, including palettes.
bool is_rgb(AVPixelFormat format);
bool is_float(AVPixelFormat format);
/// True if the width and height are multiples of the chroma subsampling.
bool divides(AVPixelFormat format, int width, int height);

/// True if both formats have equal samples, apart from color tags.
bool same_samples(FrameFormat a, FrameFormat b);

/// The matrix of untagged pictures with `height` rows: BT.709 from 720 rows on (high definition), otherwise
/// BT.601.
AVColorSpace guessed_matrix(int height);

/// True if swscale has the same coefficients for both matrices.
bool have_same_coefficients(AVColorSpace a, AVColorSpace b);

ColorMatrix color_matrix(AVColorSpace space);
ColorRange color_range(AVColorRange range);

// Choice of the pixel format for an encoder. Private to io.

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
