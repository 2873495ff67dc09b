#pragma once

#include "core/frame/frame.h"
#include "lib/include/limpid.h"

/// Memory of the library's that a caller has.
struct limpid_buffer {
  limpid::Frame frame;
};

// Frames as callers have them, and as engines do.

namespace limpid::lib {

/// Throws UsageError for a format that makes no sense.
FrameFormat to_format(const limpid_format& format);

/// Throws UsageError, which names the plane, unless there are rows of `format` where `frame` says.
void check_planes(const limpid_frame& frame, const FrameFormat& format);

/// Copies between a caller's checked planes in host memory and a frame.
void copy_in(const limpid_frame& from, Frame& to);
void copy_out(const Frame& from, const limpid_frame& to);

/// A caller's frame in a device's memory as it is, or a result's place there. Once nobody has it any more,
/// its `release` is called.
Frame callers_frame(const limpid_frame& frame, const FrameFormat& format);

/// Tells `frame` of the caller's (of `flags`, `pts` and `user`) to a frame for an engine, and back from its
/// result.
void tell(const limpid_frame& from, Frame& to);
void tell(const Frame& from, limpid_frame& to);

/// `frame` as the caller gets it, in memory of the library's.
limpid_frame lend(Frame frame);

}  // namespace limpid::lib
