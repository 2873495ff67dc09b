#pragma once

#include <cstddef>

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

/// A caller's frame that has been given to the library: its `release` is called once, at the end of what has
/// it.
class Lent {
 public:
  /// Nothing is called of NULL, and of a frame whose struct_size is wrong.
  explicit Lent(const limpid_frame* frame);
  Lent(const Lent&) = delete;
  Lent(Lent&& other) noexcept;
  Lent& operator=(const Lent&) = delete;
  Lent& operator=(Lent&&) = delete;
  ~Lent();

 private:
  void (*release_)(void*) = nullptr;
  void* data_ = nullptr;
};

/// A struct_size beyond this is no version's.
inline constexpr std::size_t kMostStructSize = 4096;

/// A caller's frame in a device's memory as it is, or a result's place there, which has `lent` from then on.
Frame callers_frame(const limpid_frame& frame, const FrameFormat& format, Lent&& lent);

/// Tells `frame` of the caller's (of `flags`, `pts` and `user`) to a frame for an engine, and back from its
/// result.
void tell(const limpid_frame& from, Frame& to);
void tell(const Frame& from, limpid_frame& to);

/// `frame` as the caller gets it, in memory of the library's.
limpid_frame lend(Frame frame);

}  // namespace limpid::lib
