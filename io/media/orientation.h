#pragma once

// Turned and mirrored pictures. Private to io.

#include <optional>

#include "core/frame/frame.h"
#include "core/frame/frame_pool.h"
#include "io/media/display_properties.h"
#include "io/media/libav.h"

namespace limpid::io {

/// What the display matrix of a stream, or of its first frame, or the EXIF tag of a picture asks for. Nothing
/// for angles that aren't multiples of 90 degrees.
std::optional<Orientation> orientation_of(const AVStream& stream, const AVFrame& first);

/// The format of a frame of `format` once turned. Nothing if libav has no pixel format for that, such as
/// 4:1:1 on its side or deep 4:4:0.
std::optional<FrameFormat> turned(FrameFormat format, Orientation orientation);

/// Where chroma samples lie between luma samples once turned; unspecified where that has no name.
AVChromaLocation turned(AVChromaLocation location, Orientation orientation);

/// The frame as it is to be shown, in memory of `pool`.
Frame turned(const Frame& frame, Orientation orientation, FramePool& pool);

}  // namespace limpid::io
