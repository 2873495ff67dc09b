#pragma once

// How libav's pixel formats relate to core's frame formats. Private to io.

#include <optional>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// The frame format, without size and colour tags, whose samples are those of a pixel format, found elsewhere
/// in memory at most: packed, byte-swapped or shifted. Nothing for formats whose samples core has no type for
/// (fewer than 8 bits, palettes, Bayer patterns, hardware surfaces), which swscale has to convert.
std::optional<FrameFormat> frame_format(AVPixelFormat format);

/// True if each component has a plane of its own and is stored as core stores samples.
bool is_planar(AVPixelFormat format);

/// The pixel format that holds samples of `format`: planar, but for gray with alpha, of which libav has no
/// planar form. None if libav has no such format.
AVPixelFormat pixel_format(const FrameFormat& format);

/// For a pixel format without a frame_format(): one with, to which swscale can convert it. `transparent`:
/// keep the alpha channel of a palette. None if swscale can't read it.
AVPixelFormat readable_equivalent(AVPixelFormat format, bool transparent);

/// The format without the "full range" that libav's deprecated yuvj formats imply.
AVPixelFormat without_range(AVPixelFormat format);
bool implies_full_range(AVPixelFormat format);

/// True for gray, with alpha or without.
bool is_gray(AVPixelFormat format);

/// True if samples with this tag are full range. The tag counts for more than the name of a yuvj format,
/// which decoders keep where the range changes in mid-stream. Gray without a tag is full range, as libswscale
/// takes it.
bool is_full_range(AVPixelFormat format, AVColorRange tag);

/// Bits of the first component.
int depth_of(AVPixelFormat format);
/// True also for palettes.
bool is_rgb(AVPixelFormat format);
/// True if the chroma subsampling divides the size.
bool divides(AVPixelFormat format, int width, int height);

/// True if the samples mean the same, colour tags aside.
bool same_samples(FrameFormat a, FrameFormat b);

/// What a picture of so many rows is taken for if it doesn't say: high definition, whose matrix is BT.709,
/// from 720 on, otherwise BT.601.
AVColorSpace guessed_matrix(int height);

ColorMatrix color_matrix(AVColorSpace space);
ColorRange color_range(AVColorRange range);

}  // namespace limpid::io
