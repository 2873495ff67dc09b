// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "core/frame/frame.h"
#include "lib/include/limpid.h"

/// Memory of the library that a caller uses.
struct limpid_buffer {
  limpid::Frame frame;
};

// Conversions between callers' frames and engines' frames.

namespace limpid::lib {

/// Throws UsageError for an invalid format.
FrameFormat to_format(const limpid_format& format);

/// Throws a UsageError that names the plane unless `frame` has valid rows of `format`.
void check_planes(const limpid_frame& frame, const FrameFormat& format);

/// Both copy samples between a caller's frame in host memory, checked by check_planes(), and a frame of the
/// library.
void copy_in(const limpid_frame& from, Frame& to);
void copy_out(const Frame& from, const limpid_frame& to);

/// A frame of the caller that the library uses. Calls `release` of the frame once, when destroyed.
class BorrowedFrame {
 public:
  /// Does nothing for NULL, or for a frame whose struct_size is wrong.
  explicit BorrowedFrame(const limpid_frame* frame);
  BorrowedFrame(const BorrowedFrame&) = delete;
  BorrowedFrame(BorrowedFrame&& other) noexcept;
  BorrowedFrame& operator=(const BorrowedFrame&) = delete;
  BorrowedFrame& operator=(BorrowedFrame&&) = delete;
  ~BorrowedFrame();

 private:
  void (*release_)(void*) = nullptr;
  void* data_ = nullptr;
};

/// Limit of struct_size; no version has larger structs.
inline constexpr std::size_t kMostStructSize = 4096;

/// A view of a caller's frame, or of the memory for a result, in device memory. It owns `borrowed`.
Frame callers_frame(const limpid_frame& frame, const FrameFormat& format, BorrowedFrame&& borrowed);

/// Copies `flags`, `pts` and `user` from the caller's frame to an engine's frame, and from its result to the
/// caller's.
void copy_properties(const limpid_frame& from, Frame& to);
void copy_properties(const Frame& from, limpid_frame& to);

/// Passes `frame` to the caller, in memory of the library.
limpid_frame lend(Frame frame);

}  // namespace limpid::lib
