// SPDX-License-Identifier: MIT
#pragma once

namespace limpid {

/// Maximum numbers of frames before and after a frame on which its result depends; 0 and 0 for spatial
/// filters. Any segment of a stream with as many frames of context is bit-exact with the whole stream, unless
/// the reach is unbounded.
struct Reach {
  int before = 0;
  int after = 0;
  /// A result depends on all earlier frames since the beginning of the stream or the last cut. `before` is
  /// the number of frames after which a stream that begins later has results of equal quality; they are never
  /// bit-exact.
  bool unbounded = false;
  bool operator==(const Reach&) const = default;
};

/// The reach of a result that depends on two results of the same frame.
constexpr Reach greater(const Reach& a, const Reach& b) {
  return {.before = a.before > b.before ? a.before : b.before,
          .after = a.after > b.after ? a.after : b.after,
          .unbounded = a.unbounded || b.unbounded};
}

}  // namespace limpid
